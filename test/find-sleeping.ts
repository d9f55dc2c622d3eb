/** The timer of `node:timers/promises`, under the name it was imported by. */
const IMPORTED = /import \{[^}]*\bsetTimeout(?: as (\w+))?[^}]*\} from 'node:timers\/promises'/;
/** A promise of the global timer. A delay of 0 only waits for a turn of the event loop, so it is allowed. */
const PROMISED = /\bsetTimeout\((?:resolve|done|r)\b(?!, 0\))/;

/**
 * The lines in which a test file sleeps. What a test needs to wait for is an event, or a state that it can poll
 * (`expect.poll`, `vi.waitFor`): a time that is long enough here is too short elsewhere.
 */
export function findSleeping(text: string): number[] {
  const [found, name = 'setTimeout'] = IMPORTED.exec(text) ?? [];
  const call = found === undefined ? undefined : new RegExp(`\\b${name}\\(`);
  return text
    .split('\n')
    .flatMap((line, index) => (call?.test(line) === true || PROMISED.test(line) ? [index + 1] : []));
}
