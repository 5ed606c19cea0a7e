"""HPACK's Huffman code (RFC 7541, appendix B), imported when a peer first uses it."""

# The bits of each byte's code, for the 256 bytes and the end marker. The code is canonical: codes
# of one length rise with the byte's value, so the lengths define all codes.
_LENGTHS = bytes.fromhex(
    "0d171c1c1c1c1c1c1c181e1c1c1e1c1c1c1c1c1c1c1c1e1c1c1c1c1c1c1c1c1c"
    "060a0a0c0d06080b0a0a080b080606060505050606060606060607080f060c0a"
    "0d06070707070707070707070707070707070707070707070807080d130d0e06"
    "0f05060506050606060507070606060506070605050607070707070f0b0e0d1c"
    "1416141416161617161717171717181718181617181717171715161716171718"
    "1615141616171715171616181516171715151615171617171416161617161617"
    "1a1a1413161716191a1a1a1b1b1a181913151a1b1b1a1b1815151a1a1c1b1b1b"
    "14181415161515171616191918181a171a1b1a1a1b1b1b1b1b1c1b1b1b1b1b1a"
    "1e"
)
_END = 256


def _codes() -> dict[tuple[int, int], int]:
    """Assign the codes: the shortest first, and of one length the lowest byte first."""
    codes = {}
    code = length = 0
    for symbol in sorted(range(len(_LENGTHS)), key=lambda symbol: (_LENGTHS[symbol], symbol)):
        code <<= _LENGTHS[symbol] - length
        length = _LENGTHS[symbol]
        codes[length, code] = symbol
        code += 1
    return codes


_CODES = _codes()


def read(text: bytes) -> bytes:
    """Decode `text`; raise ValueError for the errors of RFC 7541 5.2."""
    out = bytearray()
    code = length = 0
    for byte in text:
        for shift in range(7, -1, -1):
            code = code << 1 | byte >> shift & 1
            length += 1
            symbol = _CODES.get((length, code))
            if symbol is None:
                continue
            if symbol == _END:
                raise ValueError("a Huffman string with the end marker inside")
            out.append(symbol)
            code = length = 0
    # The rest must be shorter than a byte, and the beginning of the end marker.
    if length > 7 or code != (1 << length) - 1:
        raise ValueError("a Huffman string with wrong padding")
    return bytes(out)
