// Gives the bytes and sizes of a session to xterm.js, and prints the logical lines of its buffer.
const { Terminal } = require("@xterm/headless");

async function main() {
  const events = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const terminal = new Terminal({ cols: 80, rows: 40, scrollback: 200000, allowProposedApi: true });
  for (const { data, rows, columns } of events) {
    if (data) await new Promise((done) => terminal.write(Buffer.from(data, "base64"), done));
    else terminal.resize(columns, rows);
  }
  const buffer = terminal.buffer.active;
  const lines = [];
  for (let index = 0; index < buffer.length; index += 1) {
    const line = buffer.getLine(index);
    // Only the last row of a logical line ends in blanks that were not written. A wide character that does not fit leaves
    // an empty cell.
    const next = buffer.getLine(index + 1);
    const goesOn = next && next.isWrapped;
    const empty = goesOn && line.getCell(line.length - 1).getChars() === "" ? 1 : 0;
    const text = line.translateToString(!goesOn, 0, line.length - empty);
    if (line.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
    else lines.push(text);
  }
  process.stdout.write(JSON.stringify(lines));
}

main();
