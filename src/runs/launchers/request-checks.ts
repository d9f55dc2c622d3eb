import { SluiceError } from '../../base/index.js';
import type { LaunchRequest } from './launcher.js';

/** Linux refuses a single argument of 128 KiB; a flag before the prompt needs room too. */
const MAX_ARGUMENT_LENGTH = 128 * 1024 - 64;

/** Engines cut or refuse what is longer; a prompt that was cut is worse than none. */
const MAX_INPUT_LENGTH = 8 * 1024 * 1024;

/** Session ids are read from an agent's output: one that begins with a dash would become a flag. */
const SESSION_ID = /^[A-Za-z0-9][\w.:-]{0,199}$/u;

const MODEL = /^[A-Za-z0-9@][\w./:@+-]{0,199}$/u;

/** The prompt, if it may be written to a program's input. */
export function promptForInput(prompt: string, limit = MAX_INPUT_LENGTH): string {
  return checkPrompt(prompt, limit, 'Put the material into files of the working folder and name them in the prompt.');
}

/** The prompt, if it may be an argument. */
export function promptForArgument(prompt: string): string {
  const advice = 'Put the material into files of the working folder, or run it without a terminal.';
  return checkPrompt(prompt.replaceAll('\0', ''), MAX_ARGUMENT_LENGTH, advice);
}

/** Whether the program is started in its two-way mode; a terminal would echo what is sent. */
export function isConversation({ asks, converses, terminal }: LaunchRequest, engine: string): boolean {
  if (converses !== true) return false;
  if (terminal !== true) return true;
  if (asks !== true) return false;
  throw new SluiceError(
    'TERMINAL_UNSUPPORTED',
    `${engine} needs pipes to ask for permissions. Run it without a terminal.`,
  );
}

/** `['--model=NAME']` if a model is asked for. */
export function listModelArguments(model: string | undefined): string[] {
  if (model === undefined) return [];
  if (!MODEL.test(model)) {
    throw new SluiceError(
      'MODEL_INVALID',
      `Invalid model name ${JSON.stringify(model.slice(0, 80))}. Use letters, digits and any of . _ / : @ + -`,
    );
  }
  return [`--model=${model}`];
}

/** The session to resume, if there is one and it cannot be mistaken for a flag. */
export function checkSession(sessionId: string | undefined): string | undefined {
  if (sessionId !== undefined && !SESSION_ID.test(sessionId)) {
    throw new SluiceError(
      'SESSION_ID_INVALID',
      `Invalid session id ${JSON.stringify(sessionId.slice(0, 80))}. Start a new run instead of resuming.`,
    );
  }
  return sessionId;
}

/** A folder for an option that takes a list with commas: a comma in its name would open two other folders. */
export function checkFolderInList(folder: string): string {
  if (!folder.includes(',')) return folder;
  throw new SluiceError(
    'FOLDER_UNSUPPORTED',
    `The engine cannot work with ${folder}: the path has a comma. Use another folder.`,
  );
}

function checkPrompt(prompt: string, limit: number, advice: string): string {
  if (prompt.trim() === '') throw new SluiceError('PROMPT_MISSING', 'The prompt is empty. Add a prompt.');
  const bytes = Buffer.byteLength(prompt);
  if (bytes <= limit) return prompt;
  throw new SluiceError('PROMPT_TOO_LONG', `The prompt is too long: ${bytes} bytes, at most ${limit}. ${advice}`);
}

/** Variables a program needs to reach a model through a company's network: proxies and certificates. */
export const NETWORK_ENVIRONMENT: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];
