import { codex } from '../../src/events/translate-lines.contract.js';

const item = (phase: 'started' | 'completed', fields: object) => ({ type: `item.${phase}`, item: fields });

/** A thought. */
export function reasoning(id: string, text: string): object {
  return item('completed', { id, type: 'reasoning', text });
}

/** A command with what it printed, from its start to its end. */
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

/** Files that were changed. */
export function fileChange(id: string, ...paths: readonly string[]): object {
  return item('completed', {
    id,
    type: 'file_change',
    changes: paths.map((path) => ({ path, kind: 'add' })),
    status: 'completed',
  });
}

/** From the start of a session to its end. */
export function session(...said: readonly (object | string)[]): readonly (object | string)[] {
  return [codex.thread(), codex.turn, ...said, codex.completed(2150, 412)];
}

/** A session of so many records, as a long day of an agent has them: words, thoughts, and commands with their output. */
export function longSession(records: number): readonly (object | string)[] {
  const lines = Array.from({ length: records }, (_, index) => {
    const id = `item_${index}`;
    if (index % 10 === 3) return reasoning(id, `Step ${index}: read what the test expects before changing it.`);
    if (index % 10 === 6) return command(id, `sed -n ${index}p src/app.ts`, `line ${index}\n`)[1] ?? '';
    return codex.message(`Message ${index}: looked at part ${index} and found nothing wrong.`, id);
  });
  return session(...lines);
}
