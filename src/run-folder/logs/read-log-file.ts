import { decodeLine } from '../../events/index.js';
import type { RunFolderWarning } from '../run-folder-error.js';
import { openLineTail } from '../../files/index.js';
import type { OpenFile } from '../../base/index.js';

/** An object in a log; a line contains one or more. */
export interface LoggedRow {
  readonly line: number;
  readonly text: string;
  readonly value: object;
}

/** The maximum length of a line: an event contains at most one message, which is at most a frame of 64 MiB before escaping. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024;

/**
 * Reads a log of JSON objects, one or more per line. A last line without its newline was torn by a crash or is still
 * being written: it is never returned. Any other line that is not an object is skipped with a warning. `source` opens a
 * log that is not a plain file; `path` is then only used in warnings.
 *
 * @example
 * for await (const row of readLogFile('run/.audit/fcmp.jsonl', console.warn)) console.log(row)
 */
export async function* readLogFile(
  path: string,
  warn: (warning: RunFolderWarning) => void,
  source: string | OpenFile = path,
): AsyncGenerator<LoggedRow, undefined> {
  const lines = openLineTail(source, MAX_LINE_BYTES);
  try {
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
      const values = line.text === undefined ? undefined : decodeLine(line.text);
      if (values === undefined) {
        warn({
          code: 'LOG_LINE_DAMAGED',
          message: `Line ${line.number} of "${path}" is not a JSON object; it is skipped.`,
        });
      } else if (values.length === 1 && values[0] !== undefined) {
        yield { line: line.number, text: line.text ?? '', value: values[0] };
      } else {
        for (const value of values) yield { line: line.number, text: JSON.stringify(value), value };
      }
    }
    if (lines.unfinishedBytes() > 0) {
      const message = `"${path}" ends in an unfinished line of ${lines.unfinishedBytes()} bytes; the line is skipped.`;
      warn({ code: 'LOG_LINE_DAMAGED', message });
    }
    return undefined;
  } finally {
    await lines.close();
  }
}
