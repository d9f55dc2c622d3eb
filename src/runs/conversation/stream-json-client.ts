import {
  get,
  createRecordReader,
  readControlRequest,
  readControlResponse,
  readToolQuestion,
  readWithdrawal,
} from '../../events/index.js';
import type { Attachment } from '../ports/run-inputs.js';
import { TurnClient } from './agent-client.js';
import type { AgentClientPorts, AgentRequest, AnswerAuthor } from './agent-client.js';

interface Question {
  readonly id: string;
  readonly input: object;
}

/** The client side of `--input-format stream-json`, for Claude Code and Qwen Code: user messages and control requests. */
export class StreamJsonClient extends TurnClient<Question> {
  /** Always possible, because sessions are stored in files. */
  readonly canResume = true;
  readonly #reader;
  /** Callbacks for our pending requests, by request id. */
  readonly #sent = new Map<string, () => void>();
  #nextId = 0;

  constructor(engine: 'claude' | 'qwen', request: AgentRequest, ports: AgentClientPorts) {
    super(request, ports);
    this.#reader = createRecordReader(engine, (record) => this.#read(record));
  }

  start(prompt: string): void {
    this.startHandshake('initialize');
    this.#sendRequest({ subtype: 'initialize' }, () => {
      this.#prompt([{ type: 'text', text: prompt }, ...(this.request.attachments ?? []).map(toImageBlock)]);
    });
  }

  prompt(text: string): void {
    this.#prompt([{ type: 'text', text }]);
  }

  #prompt(content: readonly object[]): void {
    this.beginTurn();
    const message = { role: 'user', content };
    this.ports.send({ type: 'user', message, parent_tool_use_id: null, session_id: '' });
  }

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  protected sendAnswer({ id, input }: Question, optionId: string | null, author: AnswerAuthor): void {
    const response =
      optionId === 'allow'
        ? { behavior: 'allow', updatedInput: input, sluice: author }
        : { behavior: 'deny', message: author.why ?? 'The use of this tool was denied.', sluice: author };
    this.#respond({ subtype: 'success', request_id: id, response });
  }

  cancel(author: AnswerAuthor): void {
    if (this.isDeaf) return;
    this.denyAll(author);
    this.#sendRequest({ subtype: 'interrupt' }, () => undefined);
  }

  #sendRequest(request: object, next: () => void): void {
    this.#nextId += 1;
    const id = `sluice-${this.#nextId}`;
    this.#sent.set(id, next);
    this.ports.send({ type: 'control_request', request_id: id, request });
  }

  #respond(response: object): void {
    this.ports.send({ type: 'control_response', response });
  }

  #read(record: object | null): void {
    if (this.isDeaf) return;
    if (record === null) return this.readStrayLine();
    switch (get.field(record, 'type')) {
      case 'control_response':
        return this.#readResponse(record);
      case 'control_request':
        return this.#readRequest(record);
      case 'control_cancel_request':
        return this.withdraw(({ id }) => id === readWithdrawal(record));
      case 'result':
        return this.endTurn();
      default:
        this.hasResponded = true;
    }
  }

  #readResponse(record: object): void {
    const response = readControlResponse(record);
    const next = response === null ? undefined : this.#sent.get(response.id);
    if (response === null || next === undefined)
      return this.reportViolation(`it responded to ${JSON.stringify(response?.id)}, which is not an open request`);
    this.#sent.delete(response.id);
    this.hasResponded = true;
    if (response.error === null) return next();
    this.reportViolation(`it rejected a request: ${response.error}`);
  }

  #readRequest(record: object): void {
    const request = readControlRequest(record);
    if (request === null) return;
    const isOpen = [...this.questions.values()].some(({ id }) => id === request.id);
    if (!this.acceptRequest(request.id, isOpen)) return;
    if (readToolQuestion(request) === null) {
      const error = `Unsupported request: ${request.subtype.slice(0, 100)}`;
      return this.#respond({ subtype: 'error', request_id: request.id, error });
    }
    this.addQuestion({ id: request.id, input: get.object(request.request, 'input') ?? {} }, null);
  }
}

function toImageBlock({ mimeType, data }: Attachment): object {
  return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
}
