/** A line of a terminal, and when it was printed. */
export interface TerminalLine {
  readonly text: string;
  /** Milliseconds since the session started. */
  readonly at: number;
}

const COLUMNS = 100;
const WIDTH = 8.4;
const HEIGHT = 19;
const MARGIN = 18;
const HEADER = 34;
/** Longer pauses are shortened to this, so viewers need not wait for the agent. */
const MAX_PAUSE_MS = 700;

/**
 * Draws a recorded terminal session as SVG. Its lines appear one after another, without looping; with reduced motion they
 * appear together.
 *
 * @example
 * renderTerminal('sluice run', [{ text: '$ sluice doctor', at: 0 }])
 */
export function renderTerminal(title: string, recorded: readonly TerminalLine[], maxLines = 40): string {
  const wrapped = recorded.flatMap(({ text, at }) => wrap(text).map((part) => ({ text: part, at })));
  const lines = shorten(wrapped, maxLines);
  const width = Math.ceil(COLUMNS * WIDTH + 2 * MARGIN);
  const height = HEADER + lines.length * HEIGHT + MARGIN;
  const visibleLines = lines.map(({ text, at }, index) => {
    const y = HEADER + (index + 1) * HEIGHT;
    const kind = chooseKind(text);
    const style = `animation-delay:${(at / 1000).toFixed(2)}s`;
    return `<text x="${MARGIN}" y="${y}" class="${kind}" style="${style}" xml:space="preserve">${escapeText(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeText(title)}</title>
<style>
text{font:13.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d5dae3;animation:show .2s both}
.command{fill:#fff;font-weight:600}.good{fill:#7bd88f}.doubt{fill:#f2c55c}.step{fill:#7cb7ff}.quiet{fill:#8b94a5}
@keyframes show{from{opacity:0}}
@media (prefers-reduced-motion:reduce){text{animation:none}}
</style>
<rect width="100%" height="100%" rx="10" fill="#171b22"/>
<circle cx="20" cy="17" r="5" fill="#3a4150"/><circle cx="38" cy="17" r="5" fill="#3a4150"/><circle cx="56" cy="17" r="5" fill="#3a4150"/>
${visibleLines.join('\n')}
</svg>
`;
}

/** Returns the first lines, with shortened pauses. */
function shorten(lines: readonly TerminalLine[], maxLines: number): readonly TerminalLine[] {
  let now = 0;
  let previousAt = lines[0]?.at ?? 0;
  const pacedLines = lines.map(({ text, at }) => {
    now += Math.min(MAX_PAUSE_MS, at - previousAt);
    previousAt = at;
    return { text, at: now };
  });
  if (pacedLines.length <= maxLines) return pacedLines;
  return [...pacedLines.slice(0, maxLines - 1), { text: '…', at: pacedLines[maxLines - 1]?.at ?? now }];
}

function wrap(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${COLUMNS}}`, 'gu')) ?? [''];
}

function chooseKind(text: string): string {
  if (text.startsWith('$ ')) return 'command';
  if (/^✓|"verdict": "confirmed"|"status": "success"|"action": "advance"|■ completed/.test(text)) return 'good';
  if (/"verdict": "(?:unchecked|contradicted)"|"action": "needs-human"|^!/.test(text)) return 'doubt';
  if (/^[→●]/.test(text)) return 'step';
  return text.startsWith('sluice: ') ? 'quiet' : 'plain';
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
