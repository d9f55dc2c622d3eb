import type { FileHandle } from 'node:fs/promises';
import { openRunFolder, runFolderPath } from '../../run-folder/index.js';
import { isSluiceError } from '../../base/index.js';
import { STREAMS } from '../../events/index.js';
import type { StreamName } from '../../events/index.js';
import { openForReading } from '../../files/index.js';
import { answerFile } from '../files/answer-file.js';
import { findRun } from '../find-run.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';

/** The captured bytes of a run, as far as they have come. */
export function createRunRawHandlers({ store, data }: ServerContext): Pick<Handlers, 'readRaw'> {
  return {
    async readRaw({ params, context, requestId }) {
      const { id } = await findRun(store, params.id);
      const handle = await openRaw(runFolderPath(data, id), params.attempt, params.stream);
      return answerFile(context, { handle, type: 'application/octet-stream', requestId });
    },
  };
}

async function openRaw(folder: string, attempt: string, stream: string): Promise<FileHandle> {
  if (!/^[1-9]\d{0,5}$/.test(attempt) || !isStream(stream)) {
    throw new RequestError('RAW_NOT_FOUND', `Name an attempt by its number, and one of ${STREAMS.join(', ')}.`);
  }
  try {
    const captured = await openRunFolder(folder);
    const handle = await openForReading(captured.attemptPath(stream, Number(attempt)));
    if (handle !== undefined) return handle;
  } catch (error) {
    // A folder that is elsewhere, or something in it that is no file of ours: either way there is nothing to read.
    if (!isSluiceError(error)) throw error;
  }
  throw new RequestError(
    'RAW_NOT_FOUND',
    'This stream was not captured on this machine: the attempt has not begun, or its worker is elsewhere. Ask later, or where that worker is.',
  );
}

function isStream(word: string): word is StreamName {
  return (STREAMS as readonly string[]).includes(word);
}
