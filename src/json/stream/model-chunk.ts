import { SluiceError } from '../../base/index.js';

/** Text, bytes, or an event of a model's stream. */
export type ModelChunk = string | Uint8Array | ModelEvent;

/**
 * The events that are recognized. Named by `type`: OpenAI's responses, Anthropic, Cohere, the AI SDK's `fullStream`. By
 * `choices`: OpenAI's chat completions, and Mistral inside `data`. The others: Gemini, Ollama's chat and `generate`,
 * Bedrock's `ConverseStream`, LangChain's message chunks, and plain `{ text }`.
 */
export type ModelEvent =
  | { readonly type: string }
  | { readonly choices: readonly object[] }
  | { readonly data: { readonly choices: readonly object[] } }
  | {
      readonly candidates?: readonly object[] | undefined;
      readonly usageMetadata?: object;
      readonly promptFeedback?: object;
    }
  | { readonly message: object; readonly done: boolean }
  | { readonly response: string; readonly done: boolean }
  | {
      readonly contentBlockDelta?: object | undefined;
      readonly messageStop?: object | undefined;
      readonly metadata?: object | undefined;
    }
  | { readonly content: string | readonly object[] }
  | { readonly text: string };

/** The text of a chunk, and what it says about the end of the answer. */
export interface ChunkReading {
  readonly text: string | Uint8Array;
  /** The answer was cut at the output limit. */
  readonly isCut?: boolean;
  /** Why the model or its provider refused to answer. */
  readonly refusal?: string;
}

/** Finish reasons of an answer that was cut, and of a refusal. */
const CUT = /^(?:length|(?:model_)?max_(?:output_)?tokens|model_context_window_exceeded)$/i;
const REFUSED =
  /^(?:refusal|content.?filter(?:ed)?|guardrail_intervened|error_toxic|safety|blocklist|prohibited_content|spii|recitation)$/i;
/** The names of these reasons. */
const REASONS = ['finish_reason', 'finishReason', 'stop_reason', 'stopReason', 'done_reason', 'reason'];
/** Keys of events without text: Bedrock's and Gemini's. */
const SILENT = ['messageStart', 'contentBlockStart', 'contentBlockStop', 'metadata', 'usageMetadata', 'promptFeedback'];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a chunk. Events without text (reasoning, tool calls, usage, types that are not known) have none. A failure that
 * the stream reports is thrown, so a partial answer is not mistaken for a complete one; so is an unknown object.
 */
export function readChunk(chunk: ModelChunk): ChunkReading {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return { text: chunk };
  const event = asFields(chunk);
  const { type, choices, delta, error, response, data, candidates, message, content, text, done, response_metadata } =
    event;
  if (type === 'error' || type === 'response.failed') throwFailure(error ?? asFields(response)['error'] ?? chunk);
  if (Array.isArray(choices)) {
    // With `n` above 1 the answers are interleaved; only the first is read.
    const choice = choices.map(asFields).find(({ index = 0 }) => index === 0) ?? {};
    const { content: part, refusal } = asFields(choice['delta']);
    return end(joinText(part), choice, refusal);
  }
  if (typeof type === 'string' && !(type === 'ai' || 'response_metadata' in event)) return readTyped(type, event);
  if (Array.isArray(asFields(data)['choices'])) return readChunk(data as ModelEvent);
  if (Array.isArray(candidates)) {
    const candidate = asFields(candidates[0]);
    return end(joinText(asFields(candidate['content'])['parts']), candidate);
  }
  if (typeof done === 'boolean') {
    const part = typeof response === 'string' ? response : asFields(message)['content'];
    return end(joinText(part), event);
  }
  if ('contentBlockDelta' in event)
    return end(joinText(asFields(asFields(event['contentBlockDelta'])['delta'])['text']));
  if ('messageStop' in event) return end('', asFields(event['messageStop']));
  const blocked = asFields(event['promptFeedback'])['blockReason'];
  if (blocked !== undefined) return end('', undefined, blocked);
  // LangChain passes on what the provider says, Anthropic's reason apart from the other metadata.
  if (typeof content === 'string' || Array.isArray(content))
    return end(joinText(content), { ...asFields(event['additional_kwargs']), ...asFields(response_metadata) });
  if (typeof text === 'string') return end(text);
  if (delta === undefined && SILENT.some((name) => name in event)) return { text: '' };
  const keys = Object.keys(event).slice(0, 10).join(', ');
  throw new SluiceError(
    'INVALID_CHUNK',
    `The chunk is not text, bytes or an event of a known model's stream. Its keys: ${keys || 'none'}.`,
  );
}

/** Reads an event that names its type: OpenAI's responses, Anthropic, Cohere, the AI SDK. */
function readTyped(type: string, event: Fields): ChunkReading {
  const delta = asFields(event['delta']);
  switch (type) {
    case 'response.output_text.delta':
      return end(joinText(event['delta']));
    case 'response.refusal.done':
      return end('', undefined, event['refusal']);
    case 'response.incomplete':
      return end('', asFields(asFields(event['response'])['incomplete_details']));
    case 'content_block_delta':
      return end(joinText(delta['text']));
    case 'content-delta':
      return end(joinText(asFields(asFields(delta['message'])['content'])['text']));
    case 'message_delta':
    case 'message-end':
      return end('', delta);
    case 'text-delta':
      return end(joinText(event['text'] ?? event['delta'] ?? event['textDelta']));
    case 'finish':
      return end('', event);
    default:
      return { text: '' };
  }
}

/** Reads why the answer ended, from the part of the event that says so. */
function end(text: string, part: Fields = {}, refusal?: unknown): ChunkReading {
  if (typeof refusal === 'string' && refusal !== '') return { text, refusal };
  const reason = REASONS.map((name) => part[name]).find((value) => typeof value === 'string');
  if (reason === undefined) return { text };
  return { text, isCut: CUT.test(reason), ...(REFUSED.test(reason) && { refusal: reason }) };
}

function throwFailure(cause: unknown): never {
  const { message = typeof cause === 'string' ? cause : 'no message' } = asFields(cause);
  throw new SluiceError('MODEL_FAILED', `The model's stream reported a failure: ${String(message)}`, { cause });
}

/** The text of a part, or of the text blocks among a list of parts. */
function joinText(part: unknown): string {
  if (Array.isArray(part))
    return part.map((block) => joinText(asFields(block)['thought'] === true ? '' : asFields(block)['text'])).join('');
  return typeof part === 'string' ? part : '';
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
