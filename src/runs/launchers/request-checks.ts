import { SluiceError } from '../../base/index.js';
import type { LaunchRequest } from './launcher.js';

/** Linux rejects a single argument of 128 KiB, including a flag before the prompt. */
const MAX_ARGUMENT_LENGTH = 128 * 1024 - 64;

/** Engines truncate or reject longer prompts, and a truncated prompt is worse than an error. */
const MAX_INPUT_LENGTH = 8 * 1024 * 1024;

/** Session ids are parsed from an agent's output, and a leading dash would turn one into a flag. */
const SESSION_ID = /^[A-Za-z0-9][\w.:-]{0,199}$/u;

const MODEL_NAME = /^[A-Za-z0-9@][\w./:@+-]{0,199}$/u;

/** Returns the prompt, after checking that it can be written to stdin. */
export function checkInputPrompt(prompt: string, limit = MAX_INPUT_LENGTH): string {
  return checkPrompt(prompt, limit, 'Put long text into files in the working folder and name them in the prompt.');
}

/** Returns the prompt without zero bytes, after checking that it can be an argument. */
export function checkArgumentPrompt(prompt: string): string {
  const advice = 'Put long text into files in the working folder, or run the engine without a terminal.';
  return checkPrompt(prompt.replaceAll('\0', ''), MAX_ARGUMENT_LENGTH, advice);
}

/** Whether the agent is started in its two-way mode; a terminal would echo the input. */
export function isConversation({ asks, converses, terminal }: LaunchRequest, engine: string): boolean {
  if (converses !== true) return false;
  if (terminal !== true) return true;
  if (asks !== true) return false;
  throw new SluiceError(
    'TERMINAL_UNSUPPORTED',
    `${engine} cannot request permissions in a terminal. Run it without a terminal.`,
  );
}

export function listModelArguments(model: string | undefined): string[] {
  checkModel(model);
  return model === undefined ? [] : [`--model=${model}`];
}

/** Checks that a model name cannot be mistaken for a flag. */
export function checkModel(model: string | undefined): void {
  if (model !== undefined && !MODEL_NAME.test(model)) {
    throw new SluiceError(
      'MODEL_INVALID',
      `Invalid model name ${JSON.stringify(model.slice(0, 80))}. Use letters, digits and any of . _ / : @ + -`,
    );
  }
}

/** Returns the session to resume, after checking that it cannot be mistaken for a flag. */
export function checkSession(sessionId: string | undefined): string | undefined {
  if (sessionId !== undefined && !SESSION_ID.test(sessionId)) {
    throw new SluiceError(
      'SESSION_ID_INVALID',
      `Invalid session id ${JSON.stringify(sessionId.slice(0, 80))}. Start a new run instead of resuming.`,
    );
  }
  return sessionId;
}

/** For an option that is a comma-separated list: a comma would make two folders of one. */
export function checkNoComma(folder: string): string {
  if (!folder.includes(',')) return folder;
  throw new SluiceError(
    'FOLDER_UNSUPPORTED',
    `The engine cannot use the folder "${folder}": its path contains a comma. Use another folder.`,
  );
}

function checkPrompt(prompt: string, limit: number, advice: string): string {
  if (prompt.trim() === '') throw new SluiceError('PROMPT_MISSING', 'The prompt is empty. Add a prompt.');
  const bytes = Buffer.byteLength(prompt);
  if (bytes <= limit) return prompt;
  throw new SluiceError(
    'PROMPT_TOO_LONG',
    `The prompt is too long: ${bytes} bytes. The limit is ${limit} bytes. ${advice}`,
  );
}

/** Variables needed to reach a model through a company network: proxies and certificates. */
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
