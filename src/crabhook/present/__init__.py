"""What a card says, before any face draws it: no terminal, no page, no pipe is known here."""
