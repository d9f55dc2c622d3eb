import { decodeLine } from '../../events/index.js';
import type { RunFolderWarning } from '../run-folder-error.js';
import { openLineTail } from '../../files/index.js';
import type { OpenFile } from '../../base/index.js';

/** An object of a log: a line, or one of many in a line. */
export interface LoggedRow {
  readonly line: number;
  readonly text: string;
  readonly value: object;
}

/** An event holds at most a whole message, and that a frame of 64 MiB, escaped. */
export const ROW_BYTES = 256 * 1024 * 1024;

/**
 * Reads a log of JSON objects, one a line or many in a series. A last line without its newline was torn by a crash or is still being
 * written: it is never returned. Another line that is not an object is skipped with a warning. `source` is for a log that is not a
 * file of that path.
 *
 * @example
 * for await (const row of readLogFile('run/.audit/fcmp.jsonl', console.warn)) console.log(row)
 */
export async function* readLogFile(
  path: string,
  warn: (warning: RunFolderWarning) => void,
  source: string | OpenFile = path,
): AsyncGenerator<LoggedRow, undefined> {
  const lines = openLineTail(source, ROW_BYTES);
  try {
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
      const values = line.text === undefined ? undefined : decodeLine(line.text);
      if (values === undefined) {
        warn({
          code: 'LOG_LINE_DAMAGED',
          message: `${path}:${line.number} is not a JSON object; the line is skipped.`,
        });
      } else if (values.length === 1 && values[0] !== undefined) {
        yield { line: line.number, text: line.text ?? '', value: values[0] };
      } else {
        for (const value of values) yield { line: line.number, text: JSON.stringify(value), value };
      }
    }
    if (lines.unfinished() > 0) {
      const message = `${path} ends in an unfinished line of ${lines.unfinished()} bytes; the line is skipped.`;
      warn({ code: 'LOG_LINE_DAMAGED', message });
    }
    return undefined;
  } finally {
    await lines.close();
  }
}
