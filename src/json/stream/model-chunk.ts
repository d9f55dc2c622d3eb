import { SluiceError } from '../../base/index.js';

/** A chunk of a model's stream: text, bytes, or an event of OpenAI's, Anthropic's or the AI SDK's stream. */
export type ModelChunk = string | Uint8Array | object;

/**
 * Returns the text of a chunk; empty for chunks without text (reasoning, tool calls, usage). Supports OpenAI's chat
 * completions (the first choice) and responses, Anthropic's messages, and `fullStream` of the AI SDK. A failure
 * reported by the stream is thrown, so a partial answer is not mistaken for a complete one.
 */
export function readChunkText(chunk: ModelChunk): string | Uint8Array {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return chunk;
  const { type, choices, delta, text, error, response } = chunk as Readonly<Record<string, unknown>>;
  if (Array.isArray(choices)) {
    // With `n` above 1 the answers are interleaved; only the first is read.
    const choice = (choices as { index?: number; delta?: { content?: unknown } }[]).find(
      ({ index = 0 }) => index === 0,
    );
    return asText(choice?.delta?.content);
  }
  if (type === 'error' || type === 'response.failed') {
    const cause = error ?? (response as { error?: unknown } | undefined)?.error ?? chunk;
    const { message = typeof cause === 'string' ? cause : 'no message' } = cause as { message?: unknown };
    throw new SluiceError('MODEL_FAILED', `The model's stream reported a failure: ${String(message)}`, { cause });
  }
  if (type === 'content_block_delta') return asText((delta as { text?: unknown } | undefined)?.text);
  if (type === 'text-delta') return asText(text ?? delta);
  return type === 'response.output_text.delta' ? asText(delta) : '';
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
