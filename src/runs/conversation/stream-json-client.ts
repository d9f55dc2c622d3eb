import {
  get,
  createRecordReader,
  readControlRequest,
  readControlResponse,
  readToolQuestion,
  readWithdrawal,
} from '../../events/index.js';
import type { Attachment } from '../ports/run-inputs.js';
import { HANDSHAKE_MS, MAX_REQUESTS, MAX_STRAY_LINES } from './approvals.js';
import type { AgentClient, AgentClientPorts, AgentRequest, AnswerAuthor, ClientLimits } from './approvals.js';

interface Question {
  readonly id: string;
  readonly input: object;
}

/** The client side of `--input-format stream-json`, for Claude Code and Qwen Code: user messages and control requests. */
export class StreamJsonClient implements AgentClient {
  /** Always possible, because sessions are stored in files. */
  readonly canResume = true;
  readonly #request: AgentRequest;
  readonly #ports: AgentClientPorts;
  readonly #handshakeMs: number;
  readonly #reader;
  /** Callbacks for our pending requests, by request id. */
  readonly #sent = new Map<string, () => void>();
  /** The agent's unanswered permission requests, by number. */
  readonly #questions = new Map<number, Question>();
  #nextId = 0;
  #requests = 0;
  #permissions = 0;
  #strayLines = 0;
  #hasResponded = false;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #isClosed = false;

  constructor(
    engine: 'claude' | 'qwen',
    request: AgentRequest,
    ports: AgentClientPorts,
    { handshakeMs = HANDSHAKE_MS }: ClientLimits = {},
  ) {
    this.#request = request;
    this.#ports = ports;
    this.#handshakeMs = handshakeMs;
    this.#reader = createRecordReader(engine, (record) => this.#read(record));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start(prompt: string): void {
    const seconds = Math.round(this.#handshakeMs / 1000);
    this.#timer = setTimeout(
      () => this.#reportViolation(`it did not respond to initialize within ${seconds} s`),
      this.#handshakeMs,
    );
    this.#timer.unref();
    this.#sendRequest({ subtype: 'initialize' }, () => {
      clearTimeout(this.#timer);
      this.#prompt([{ type: 'text', text: prompt }, ...(this.#request.attachments ?? []).map(toImageBlock)]);
    });
  }

  prompt(text: string): void {
    this.#prompt([{ type: 'text', text }]);
  }

  #prompt(content: readonly object[]): void {
    this.#isOver = false;
    this.#permissions = 0;
    this.#questions.clear();
    const message = { role: 'user', content };
    this.#ports.send({ type: 'user', message, parent_tool_use_id: null, session_id: '' });
  }

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  answer(number: number, optionId: string | null, author: AnswerAuthor): void {
    const question = this.#questions.get(number);
    if (question === undefined) return;
    this.#questions.delete(number);
    const response =
      optionId === 'allow'
        ? { behavior: 'allow', updatedInput: question.input, sluice: author }
        : { behavior: 'deny', message: author.why ?? 'The use of this tool was denied.', sluice: author };
    this.#respond({ subtype: 'success', request_id: question.id, response });
  }

  cancel(author: AnswerAuthor): void {
    if (this.#isOver || this.#isClosed) return;
    for (const number of this.#questions.keys()) this.answer(number, null, author);
    this.#sendRequest({ subtype: 'interrupt' }, () => undefined);
  }

  close(): void {
    this.#isOver = true;
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #sendRequest(request: object, next: () => void): void {
    this.#nextId += 1;
    const id = `sluice-${this.#nextId}`;
    this.#sent.set(id, next);
    this.#ports.send({ type: 'control_request', request_id: id, request });
  }

  #respond(response: object): void {
    this.#ports.send({ type: 'control_response', response });
  }

  #read(record: object | null): void {
    if (this.#isClosed || this.#isOver) return;
    if (record === null) return this.#readStrayLine();
    switch (get.field(record, 'type')) {
      case 'control_response':
        return this.#readResponse(record);
      case 'control_request':
        return this.#readRequest(record);
      case 'control_cancel_request':
        return this.#readWithdrawal(record);
      case 'result':
        return this.#end();
      default:
        this.#hasResponded = true;
    }
  }

  #readResponse(record: object): void {
    const response = readControlResponse(record);
    const next = response === null ? undefined : this.#sent.get(response.id);
    if (response === null || next === undefined)
      return this.#reportViolation(`it responded to ${JSON.stringify(response?.id)}, which is not an open request`);
    this.#sent.delete(response.id);
    this.#hasResponded = true;
    if (response.error === null) return next();
    this.#reportViolation(`it rejected a request: ${response.error}`);
  }

  #readRequest(record: object): void {
    const request = readControlRequest(record);
    if (request === null) return;
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) return this.#reportViolation(`it made more than ${MAX_REQUESTS} requests`);
    if ([...this.#questions.values()].some(({ id }) => id === request.id))
      return this.#reportViolation(`it used the request id ${JSON.stringify(request.id)} twice`);
    if (readToolQuestion(request) === null) {
      const error = `Unsupported request: ${request.subtype.slice(0, 100)}`;
      return this.#respond({ subtype: 'error', request_id: request.id, error });
    }
    this.#permissions += 1;
    this.#questions.set(this.#permissions, { id: request.id, input: get.object(request.request, 'input') ?? {} });
    this.#ports.onPermission(this.#permissions, null);
  }

  #readWithdrawal(record: object): void {
    const id = readWithdrawal(record);
    for (const [number, question] of this.#questions) {
      if (question.id !== id) continue;
      this.#questions.delete(number);
      this.#ports.onWithdrawn(number);
    }
  }

  #readStrayLine(): void {
    this.#strayLines += 1;
    if (!this.#hasResponded && this.#strayLines > MAX_STRAY_LINES)
      this.#reportViolation("its output is not in the protocol's format; check the options in its command");
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#ports.onEnd();
  }

  #reportViolation(reason: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#ports.onProtocolViolation(reason);
  }
}

function toImageBlock({ mimeType, data }: Attachment): object {
  return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
}
