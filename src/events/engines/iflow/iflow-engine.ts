import type { Engine, Reader } from '../engine.js';
import type { TextFrame } from '../../framing/frame.js';
import type { CapturedStream, Usage } from '../../protocol/event-parts.js';
import { ErrorDump } from '../../reading/error-dump.js';
import type { Emit, Fact } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';
import { get, toKnownFields, isRecord, toUsage } from '../../reading/record-fields.js';
import { readRetryLine } from '../gemini/gemini-log.js';
import { DRIFT_CONFIDENCE, IflowText } from './iflow-text.js';
import { readJson } from '../../framing/segment-line.js';

/** iFlow CLI: plain text on stdout, then an `<Execution Info>` block on stderr; the streams can be swapped. */
export const iflowEngine: Engine = {
  name: 'iflow',
  parser: 'iflow_text',
  parserVersion: '2',
  framing: 'text',
  guarantees: { session: 'late', endSignal: true },
  fields: toKnownFields(KNOWN_FIELDS.iflow),
  detect: () => 0,
  detectText: (line) => (/<\/?Execution Info>|^Error when talking to iFlow API/u.test(line) ? 1 : 0),
  readSession: () => null,
  createReader: createIflowReader,
};

const REGEX_CONFIDENCE = 0.7;

const TAG = /<(\/?)Execution Info>/gu;

/** Control characters that never occur in text; a line with one is damaged. */
const CONTROL_CHARACTERS = new RegExp(String.raw`[\u0000-\u0008\u000e-\u001a\u001c-\u001f]`, 'u');

/** Reads iFlow's output as recognizable lines, JSON blocks and the agent's message, each with its own confidence. */
function createIflowReader(emit: Emit): Reader {
  const blocks: Record<CapturedStream, ExecutionInfo | null> = { stdout: null, stderr: null, pty: null, stdin: null };
  const hasEnded: Record<CapturedStream, boolean> = { stdout: false, stderr: false, pty: false, stdin: false };
  const dump = new ErrorDump();
  let hasBlock = false;
  /** Whether the session is known; later lines with one might be the agent's own text. */
  let hasSession = false;
  let hasDrifted = false;
  let hasWarned = false;
  const message = new IflowText(emit, () => hasBlock);
  const suspectedError = new SuspectedError(emit);

  function openBlock(frame: TextFrame): void {
    const { stream } = frame;
    hasBlock = true;
    // The previous block was never closed: it was quoted or truncated.
    blocks[stream]?.abandon(emit);
    message.close(stream === 'stderr' ? 'stderr' : 'stdout');
    blocks[stream] = new ExecutionInfo(frame);
  }

  function closeBlock(frame: TextFrame): void {
    const { stream } = frame;
    hasSession = true;
    (blocks[stream] ?? new ExecutionInfo(frame)).close(frame, emit);
    blocks[stream] = null;
    hasEnded[stream] = true;
    if (stream !== 'stdout' || hasDrifted) return;
    hasDrifted = true;
    emit({
      fact: 'warning',
      code: 'STREAM_DRIFT_OBSERVED',
      message: 'iFlow printed its <Execution Info> block on stdout instead of stderr.',
      subject: 'execution_info',
      confidence: DRIFT_CONFIDENCE,
    });
  }

  /** Reads a line without tags, or the text before, between or after the tags of a line. */
  function readText(frame: TextFrame, text: string): void {
    const { stream } = frame;
    const block = blocks[stream];
    if (block !== null) {
      emit({ fact: 'hold' });
      if (block.add(frame, `${text}\n`)) return;
      block.abandon(emit);
      blocks[stream] = null;
      return;
    }
    if (dump.continues(stream, text)) return emit({ fact: 'noise' });
    const meaning = readIflowLine(text, stream);
    if (stream === 'stdout' && meaning === null && suspectedError.add(frame, text)) return;
    if (stream === 'stdout') releaseSuspected(frame);
    if (meaning !== null && !(hasSession && meaning.fact === 'status')) return reportLine(frame, meaning);
    message.add(frame, text);
    if (!hasEnded[stream] || hasWarned || stream === 'stderr' || text.trim() === '') return;
    hasWarned = true;
    emit({
      fact: 'warning',
      code: 'OUTPUT_AFTER_END',
      message: 'iFlow printed more output after its <Execution Info> block.',
    });
  }

  /** Treats the held lines as part of the answer, because the agent continued after them. */
  function releaseSuspected(current: TextFrame): void {
    const lines = suspectedError.take();
    if (lines.length === 0) return;
    for (const { frame, text } of lines) message.add(frame, text);
    emit({ fact: 'frame', frame: current });
  }

  function reportLine(frame: TextFrame, meaning: LineMeaning): void {
    emit({ fact: 'frames', first: frame, last: frame });
    emit({ fact: 'confidence', value: REGEX_CONFIDENCE });
    emit(meaning);
    if (meaning.fact === 'status') hasSession = true;
    else dump.start(frame.stream);
  }

  return {
    // Never called: text framing produces no JSON frames.
    json: () => emit({ fact: 'unparsed' }),
    text(frame) {
      if (frame.problem !== null || frame.encoding === 'binary' || CONTROL_CHARACTERS.test(frame.text))
        return emit({ fact: 'unparsed' });
      let at = 0;
      for (const tag of frame.text.matchAll(TAG)) {
        emit({ fact: 'hold' });
        const textBefore = frame.text.slice(at, tag.index);
        if (textBefore.trim() !== '') readText(frame, textBefore);
        at = tag.index + tag[0].length;
        if (tag[1] === '/') closeBlock(frame);
        else openBlock(frame);
      }
      const rest = frame.text.slice(at);
      if (at === 0 || rest.trim() !== '') readText(frame, rest);
    },
    end({ exitCode }) {
      const hasFailed = exitCode !== null && exitCode !== 0;
      if (hasFailed) suspectedError.report(REGEX_CONFIDENCE);
      for (const { frame, text } of suspectedError.take()) message.add(frame, text);
      message.end();
      for (const block of Object.values(blocks)) block?.abandon(emit);
    },
  };
}

/** Limit on the lines held back; a longer block is not an error message. */
const MAX_SUSPECTED_BYTES = 64 * 1024;

/**
 * Lines at the end of stdout that look like an error, with the indented lines after them. An agent's answer can contain
 * the same, so they are held until more output arrives, or until the exit code is known.
 */
class SuspectedError {
  readonly #emit: Emit;
  #heldLines: { readonly frame: TextFrame; readonly text: string }[] = [];

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Holds a line that starts or continues an error; returns false for any other line. */
  add(frame: TextFrame, text: string): boolean {
    const [first = { frame }] = this.#heldLines;
    if (frame.to - first.frame.from > MAX_SUSPECTED_BYTES) return false;
    const isContinued = this.#heldLines.length > 0 && /^(?:\s|$)/u.test(text);
    if (!isContinued && !LOGGED_ERROR.test(text)) return false;
    this.#emit({ fact: 'hold' });
    this.#heldLines.push({ frame, text });
    return true;
  }

  take(): readonly { readonly frame: TextFrame; readonly text: string }[] {
    const lines = this.#heldLines;
    this.#heldLines = [];
    return lines;
  }

  /** Reports the held lines as an error, because the process has failed. */
  report(confidence: number): void {
    const lines = this.take();
    const [first] = lines;
    const last = lines.findLast(({ text }) => text.trim() !== '');
    if (first === undefined || last === undefined) return;
    this.#emit({ fact: 'frames', first: first.frame, last: last.frame });
    this.#emit({ fact: 'confidence', value: confidence });
    const message = lines.map(({ text }) => text).join('\n');
    this.#emit({ fact: 'error', message: message.trimEnd(), severity: 'error' });
  }
}

type LineMeaning = Extract<Fact, { fact: 'status' | 'error' }>;

/** iFlow starts some lines with an emoji, spaces or a bullet. */
const RESUMING = /^\W{0,8}Resuming session:?\s+["']?([\w-]{1,200})/u;
const SESSION = /^\W{0,8}session-id"?\s*[:=]\s*"?([\w-]{1,200})"?,?\s*$/u;
/** Agents do not start a line like this, so it counts on both streams. */
const ENGINE_ERROR = /^\W{0,8}(?:Error when talking to iFlow API|Generate data error|\[API Error: )/iu;
/** On stdout the agent itself can start a line like this; the following lines and the exit code decide. */
const LOGGED_ERROR = /^\W{0,8}(?:Error\b|Uncaught\b|Unhandled\b|Failed to\b|Request failed\b|错误|失败)/iu;

/**
 * Matches a line with regular expressions; null if none matches. iFlow is a fork of the Gemini CLI and has the same
 * retry messages.
 *
 * @example
 * readIflowLine('Resuming session s-1', 'stdout') // { fact: 'status', status: 'resuming_session', session_id: 's-1' }
 */
function readIflowLine(text: string, stream: CapturedStream): LineMeaning | null {
  const resuming = RESUMING.exec(text)?.[1];
  if (resuming !== undefined) return { fact: 'status', status: 'resuming_session', session_id: resuming };
  const session = SESSION.exec(text)?.[1];
  if (session !== undefined) return { fact: 'status', status: 'session_id', session_id: session };
  const retry = readRetryLine(text);
  if (retry !== null) return { fact: 'error', message: text, retrying: true, ...retry };
  if (ENGINE_ERROR.test(text)) return { fact: 'error', message: text, severity: 'error' };
  return stream === 'stderr' && LOGGED_ERROR.test(text) ? { fact: 'error', message: text, severity: 'warning' } : null;
}

/** Confidence in values from a JSON block, and from a broken block. */
const BLOCK_CONFIDENCE = 0.8;
const BROKEN_CONFIDENCE = 0.3;

/** The maximum length of a block; real blocks have a few hundred bytes. */
const MAX_BLOCK_CHARS = 256 * 1024;

/** An `<Execution Info>` block whose end has not arrived yet. */
class ExecutionInfo {
  readonly #first: TextFrame;
  #last: TextFrame;
  #text = '';

  constructor(first: TextFrame) {
    this.#first = first;
    this.#last = first;
  }

  /** Adds a chunk of the block; returns false if it is too long to be a block. */
  add(frame: TextFrame, text: string): boolean {
    this.#last = frame;
    this.#text += text;
    return this.#text.length <= MAX_BLOCK_CHARS;
  }

  /** Ends the block at its closing tag. The invocation has ended even if the block cannot be parsed. */
  close(frame: TextFrame, emit: Emit): void {
    this.#last = frame;
    const info = readJson(this.#text.trim());
    if (isRecord(info)) this.#emit(info, emit);
    else this.abandon(emit);
    emit({ fact: 'end_signal', signal: 'IFLOW_EXECUTION_INFO_CLOSED' });
  }

  /** Reports a truncated or broken block as a raw event; its session id can still be found. */
  abandon(emit: Emit): void {
    emit({ fact: 'frames', first: this.#first, last: this.#last });
    const session_id = /"session-id"\s*:\s*"([\w-]{1,200})"/u.exec(this.#text)?.[1];
    if (session_id !== undefined) {
      emit({ fact: 'confidence', value: REGEX_CONFIDENCE });
      emit({ fact: 'status', status: 'execution_info', session_id });
    }
    emit({ fact: 'confidence', value: BROKEN_CONFIDENCE });
    emit({ fact: 'guess', text: this.#text });
    emit({
      fact: 'warning',
      code: 'IFLOW_EXECUTION_INFO_PARSE_FAILED',
      message: 'The <Execution Info> block cannot be parsed; it is in a raw event.',
      confidence: BROKEN_CONFIDENCE,
    });
  }

  #emit(info: object, emit: Emit): void {
    emit({ fact: 'frames', first: this.#first, last: this.#last });
    emit({ fact: 'confidence', value: BLOCK_CONFIDENCE });
    emit({ fact: 'record', record: info, shape: '<Execution Info>' });
    emit({
      fact: 'status',
      status: 'execution_info',
      session_id: get.name(info, 'session-id'),
      usage: readTokens(info, emit),
      detail: {
        conversation_id: get.field(info, 'conversation-id'),
        assistant_rounds: get.field(info, 'assistantRounds'),
        execution_time_ms: get.field(info, 'executionTimeMs'),
      },
    });
  }
}

function readTokens(info: object, emit: Emit): Usage | null {
  const tokens = get.object(info, 'tokenUsage');
  if (tokens === null) return null;
  emit({ fact: 'record', record: tokens, shape: '<Execution Info>.tokenUsage' });
  return toUsage('turn', {
    input_tokens: get.count(tokens, 'input'),
    output_tokens: get.count(tokens, 'output'),
    total_tokens: get.count(tokens, 'total'),
  });
}
