import type { RpcId } from '../../events/index.js';
import type { Stop } from '../attempts/run-control.js';
import type { ConversationRequest } from '../launchers/launcher.js';

export interface AgentRequest extends ConversationRequest {
  readonly workdir: string;
  /** The session to resume. */
  readonly sessionId: string | null;
  readonly model?: string;
  /** Whether the agent may stay in a mode that approves tool calls automatically. */
  readonly keepMode: boolean;
  /** The time limit for each step before the prompt; two minutes by default. */
  readonly handshakeMs?: number;
}

export interface AgentClientPorts {
  send(message: object): void;
  /** Called for each permission request of the turn. Requests are numbered from 1, as in event ids. */
  onPermission(number: number, kind: string | null): void;
  onWithdrawn(number: number): void;
  readFile(path: string, lines: { readonly line: number | null; readonly limit: number | null }): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  /** Called when the turn has ended or the agent refused to start it. */
  onEnd(): void;
  /** Called once if the conversation cannot continue. */
  onFailure(stop: Stop): void;
}

export interface AnswerAuthor {
  readonly by: 'rule' | 'person';
  readonly who?: string;
  readonly why?: string;
}

const HANDSHAKE_MS = 120_000;

/** Maximum requests per process; real agents send far fewer. */
const MAX_REQUESTS = 10_000;

/** Maximum non-message lines before the first response; a process that prints more is not an agent. */
const MAX_STRAY_LINES = 200;

/** The client side of a conversation with one process. The caller determines when to stop. */
export type AgentClient = Pick<
  TurnClient<never>,
  'canResume' | 'isOver' | 'start' | 'prompt' | 'receive' | 'answer' | 'cancel' | 'close'
>;

/**
 * The common part of all clients: they number the turn's permission requests, end the turn once, and limit what an agent
 * can do outside its protocol. A violation is reported once.
 */
export abstract class TurnClient<Question> {
  /** Whether another process can resume the session. */
  abstract readonly canResume: boolean;
  /** Whether the turn has ended, successfully or not. */
  isOver = false;
  protected readonly request: AgentRequest;
  protected readonly ports: AgentClientPorts;
  /** The turn's open permission requests. */
  protected readonly questions = new Map<number, Question>();
  /** Whether the agent has printed a message of the protocol. */
  protected hasResponded = false;
  #questionCount = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #requests = 0;
  #strayLines = 0;

  constructor(request: AgentRequest, ports: AgentClientPorts) {
    this.request = request;
    this.ports = ports;
  }

  /** Starts the conversation with its first prompt. */
  abstract start(prompt: string): void;
  /** Starts the next turn in the same session. */
  abstract prompt(text: string): void;
  /** Reads agent output, which can be split anywhere. */
  abstract receive(bytes: Uint8Array): void;
  /** Asks the agent to stop, and denies its open permission requests. */
  abstract cancel(author: AnswerAuthor): void;
  protected abstract sendAnswer(question: Question, optionId: string | null, author: AnswerAuthor): void;

  /** Answers a permission request with an option; null denies it. The author is stored in the recording. */
  answer(number: number, optionId: string | null, author: AnswerAuthor): void {
    const question = this.questions.get(number);
    if (question === undefined) return;
    this.questions.delete(number);
    this.sendAnswer(question, optionId, author);
  }

  close(): void {
    this.isOver = true;
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Whether the agent's messages are ignored: between two prompts, and at the end. */
  protected get isDeaf(): boolean {
    return this.isOver || this.#isClosed;
  }

  protected beginTurn(): void {
    this.isOver = false;
    clearTimeout(this.#timer);
    this.#questionCount = 0;
    this.questions.clear();
  }

  protected endTurn(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#timer);
    this.ports.onEnd();
  }

  /** Limits the time for the response to a request before the prompt. */
  protected startHandshake(method: string): void {
    const { handshakeMs = HANDSHAKE_MS } = this.request;
    clearTimeout(this.#timer);
    const reason = `it did not respond to ${method} within ${Math.round(handshakeMs / 1000)} s`;
    this.#timer = setTimeout(() => this.reportViolation(reason), handshakeMs).unref();
  }

  protected readStrayLine(): void {
    this.#strayLines += 1;
    if (!this.hasResponded && this.#strayLines > MAX_STRAY_LINES)
      this.reportViolation("its output is not in the protocol's format; check the options in its command");
  }

  /** Counts a request of the agent; false if it makes too many, or used its id twice. */
  protected acceptRequest(id: RpcId, isOpen: boolean): boolean {
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) this.reportViolation(`it made more than ${MAX_REQUESTS} requests`);
    else if (isOpen) this.reportViolation(`it used the request id ${JSON.stringify(id)} twice`);
    return !this.#isClosed;
  }

  protected reportViolation(reason: string): void {
    const hint = 'Check its output in the run folder.';
    this.fail({ verdict: 'protocol_broken', reason: `The agent violated the protocol: ${reason}.`, hint });
  }

  protected fail(stop: Stop): void {
    if (this.#isClosed) return;
    this.close();
    this.ports.onFailure(stop);
  }

  protected addQuestion(question: Question, kind: string | null): void {
    this.#questionCount += 1;
    this.questions.set(this.#questionCount, question);
    this.ports.onPermission(this.#questionCount, kind);
  }

  protected denyAll(author: AnswerAuthor): void {
    for (const number of this.questions.keys()) this.answer(number, null, author);
  }

  protected withdraw(isWithdrawn: (question: Question) => boolean): void {
    for (const [number, question] of this.questions) {
      if (!isWithdrawn(question)) continue;
      this.questions.delete(number);
      this.ports.onWithdrawn(number);
    }
  }
}
