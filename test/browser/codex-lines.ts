import { codex } from '../../src/events/contract/translate-lines.contract.js';

const item = (phase: 'started' | 'completed', fields: object) => ({ type: `item.${phase}`, item: fields });

/** Creates a reasoning record. */
export function reasoning(id: string, text: string): object {
  return item('completed', { id, type: 'reasoning', text });
}

/** Creates a command's records with its output, from start to end. */
export function command(id: string, line: string, output: string, exitCode = 0): readonly object[] {
  const fields = { id, type: 'command_execution', command: line };
  return [
    item('started', { ...fields, aggregated_output: '', exit_code: null, status: 'in_progress' }),
    item('completed', {
      ...fields,
      aggregated_output: output,
      exit_code: exitCode,
      status: exitCode === 0 ? 'completed' : 'failed',
    }),
  ];
}

/** Creates the records of changed files, from start to end. */
export function fileChange(id: string, ...paths: readonly string[]): readonly object[] {
  const changes = paths.map((path) => ({ path, kind: 'add' }));
  const fields = { id, type: 'file_change', changes };
  return [item('started', { ...fields, status: 'in_progress' }), item('completed', { ...fields, status: 'completed' })];
}

/** Wraps records in a session start and end. */
export function session(...records: readonly (object | string)[]): readonly (object | string)[] {
  return [codex.thread(), codex.turn, ...records, codex.completed(2150, 412)];
}

/** Creates a session of this many records: messages, thoughts, and commands with their output. */
export function longSession(records: number): readonly (object | string)[] {
  return session(...Array.from({ length: records }, (_, index) => longSessionRecord(index)));
}

/** Returns the record at an index of a long session. */
export function longSessionRecord(index: number): object | string {
  const id = `item_${index}`;
  switch (index % 10) {
    case 3:
      return reasoning(id, `Step ${index}: read what the test expects before changing it.`);
    case 6:
    case 7: {
      const first = index - (index % 10) + 6;
      return command(`item_${first}`, `sed -n ${first}p src/app.ts`, `line ${first}\n`)[index % 10 === 6 ? 0 : 1] ?? '';
    }
    default:
      return codex.message(`Message ${index}: looked at part ${index} and found nothing wrong.`, id);
  }
}
