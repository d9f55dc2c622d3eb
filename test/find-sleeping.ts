/** The timer of `node:timers/promises`, with the name it was imported by. */
const IMPORTED = /import \{[^}]*\bsetTimeout(?: as (\w+))?[^}]*\} from 'node:timers\/promises'/;
/** A promise with the global timer. A delay of 0 only waits for the next turn of the event loop, so it is allowed. */
const PROMISED = /\bsetTimeout\((?:resolve|done|r)\b(?!, 0\))/;

/**
 * Lists the lines where a test file sleeps. A test must wait for an event, or poll a state (`expect.poll`,
 * `vi.waitFor`): a delay that is long enough here might be too short elsewhere.
 */
export function findSleeping(text: string): number[] {
  const [found, name = 'setTimeout'] = IMPORTED.exec(text) ?? [];
  const call = found === undefined ? undefined : new RegExp(`\\b${name}\\(`);
  return text
    .split('\n')
    .flatMap((line, index) => (call?.test(line) === true || PROMISED.test(line) ? [index + 1] : []));
}
