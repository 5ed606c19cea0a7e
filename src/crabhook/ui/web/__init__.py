"""The web desk's HTML, made from values: no server, no clock, no input and output.

`page` makes fragments: an element's id, and its HTML, or "" where it goes. The page puts a fragment
in the place of the element with its id. An element that is not there yet goes into the element that
its `data-into` names. There it goes before the first child with a greater `data-order` (compared as
text).

Ids
  desk            what stands above all: who sits here, what is wrong, standing orders
  queue-list      the rows of what waits, `row-N` for card N; `queue-count` says how many
  card-N          the article of card N, as `GET /card/N` returns it; `card-N-title` is its heading
  session-list    the live sessions; `session-KEY`
  history-list    what ended, `entry-N`; `history-more` reads on
  known-N         in the article of card N: what is known around it, once that was read
  edit-N          in it: what the rules say of an edit, and the button that sends the edit
  entry-offers-N  in a whole entry of the history: the rules that are offered for such calls
  offers-N, denials-N      in it: the rules that are offered to allow such calls, or to deny them

Attributes of a row and an article
  data-card       the card's number           data-seen      its revision; it goes back with an act
  data-strict     the passkey signs the statements of /statements, in place of the call
  data-sha        what names its inputs, hex; it goes back with an act. A row without it has no acts
  data-state      waiting, decided, expired, withdrawn
  data-kind       call, questions, plan, stop, denial or form
  data-risk       none, caution, danger
  data-whole      "no": some of it is not on the page, so that nothing can be allowed here
  data-since, data-until   seconds on the server's clock: it waits since, and its agent waits until

Blocks: `section.block` with `data-block` (command, change, plan, ...), `data-lines` (how many) and
`data-whole`. Each line is a `span.line`; those past the first are in `details.more`, whose summary
says how many there are. A block was in view when each of its lines was, which needs `details.more`
open. `details.raw` holds JSON and need not be seen. What must be seen is below `.asked`.

Buttons: `button.act` in `form.acts`
  data-act        the act's id                data-guard     FREE, ARMED or READ, as `Guard` says
  data-field      what it takes: the name of a `desk.acts.Field`, such as "reason", or ""
  data-needs      its field may not be empty
  data-second     what a second yes is said to; these words go back as `second`
  data-key        "cookie", "passkey", or "words": the passkey where words are typed
  data-value      what a button sends that is a choice; it goes back as `choice` (`acts` says which)

Fields: `textarea` or `input` with `data-field` as above and `data-name`, the key in the value of an
act. It is `q1` (option numbers from 1 in `value`), `q1-words` or `q1-note`, `f1` of a form, or
`line-3` of a plan. Times: `time[data-since]`, `time[data-until]` and `time[data-at]`, which the
page counts on.

Classes that have a look
  mark                     a letter that nobody sees
  bar                      decoration, hidden from readers
  danger, caution, none    levels of risk
  added, removed           lines; `sign` is their first letter
  changed                  words in a line
  label, quote             our words, and an agent's
  dim, warning, alarm, count

What the page (`static/desk.js`) does with these, and looks for beside them
  a.open          in a row or an entry: leads to the whole card (`href="#card-3"`, `#entry-5`)
  div.first       in `form.acts`: deny and the act that opens; on a phone it stays at the foot
  details.others  in `form.acts`: the other acts, each beside its own field
  div.fields      in `form.acts`, above `div.first`: the fields that several acts share
  data-field      of a field: several names, parted by blanks ("reason note"), where acts share it
  data-gives      of a button: what is told while its answer is held, "Allowed"; without it, the act
                  decides no card and goes at once
  data-hold       of a button: seconds for which its answer is held; 2 without it
  data-session    of rows, articles, sessions and entries: whose it is; the page filters by it
  data-of         of a row, a session or an entry: whose it is, in words
  div.with-field  a button beside a field of its own: other fields are not its own
  data-ended      of a row or an article that waits no more: who decided what, in words
  button.uncover  in an article: with `data-covers` has its secrets shown, which the passkey signs
                  for; without it has them covered again
  button.ask      asks the server to read: `data-ask` (offers, objections, history, entry), and with
                  it `data-card`, `data-entry`, `data-before` or `data-denies`
An act of a session stands in an element with `data-session`, and its field beside it. A row leaves
with "" as its HTML: its place stays, greyed, until the page is touched elsewhere.
"""
