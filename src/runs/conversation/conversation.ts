import type { Emitted } from '../../events/index.js';
import { omitUndefined } from '../../base/index.js';
import type { CapturedConversation } from '../capture/capture-output.js';
import type { RunContext } from '../attempts/run-context.js';
import type { Stop } from '../attempts/run-control.js';
import type { RunningProcess } from '../process/launch-process.js';
import { AcpClient } from './acp-client.js';
import type { AgentClient, AgentClientPorts, AgentRequest, AnswerAuthor } from './agent-client.js';
import type { Approval, ApprovalPolicy, PermissionQuestion, StoredAnswer } from './approvals.js';
import { AppServerClient } from './app-server-client.js';
import { StreamJsonClient } from './stream-json-client.js';
import { chooseOption, decideByRules, listPaths, readAnswer } from './approvals.js';
import { resolveInFolder, readForAgent, writeForAgent } from './client-files.js';

interface ConversationOptions {
  readonly request: AgentRequest;
  readonly running: Pick<RunningProcess, 'input' | 'stop'>;
  /** Whether the agent runs in a sandbox; Sluice, which is outside it, then reads and writes no files on its behalf. */
  readonly isSandboxed: boolean;
}

export interface Turn {
  readonly prompt: string;
  readonly storedAnswers: readonly StoredAnswer[];
  /** Masks secrets in the stored copy of a message. */
  readonly mask: (text: string) => string;
  /** Called when the agent has ended its turn. If omitted, the process is stopped at that point. */
  readonly onEnd?: () => void;
}

interface OpenQuestion {
  readonly number: number;
  readonly question: PermissionQuestion;
  readonly approval: Approval & AnswerAuthor;
}

/** The part of a run's context that a conversation uses. */
type ConversationContext = Pick<RunContext, 'control' | 'limits' | 'ports' | 'runDir' | 'spec' | 'stopwatch'>;

/** The time an agent has to exit on its own after its turn has ended or was canceled. */
const GRACE_MS = 2000;

/** Maximum unread input; an agent with more is not reading its input at all. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/** A conversation with one process: sends prompts, answers requests by rules or a user's answers, and stops it. */
export class Conversation implements CapturedConversation {
  readonly #options: ConversationOptions;
  readonly #context: ConversationContext;
  readonly #policy: ApprovalPolicy;
  readonly #client: AgentClient;
  readonly #kinds = new Map<number, string>();
  /** Questions whose events are about to be published. */
  #pendingQuestions: OpenQuestion[] = [];
  readonly #waiting = new Map<string, OpenQuestion>();
  /** Files the agent was allowed to change. */
  readonly #allowedPaths = new Set<string>();
  /** The stored answers to requests that the agent has not repeated. */
  unusedAnswers: readonly StoredAnswer[] = [];
  #turn: Turn | null = null;
  #isPrompted = false;
  #hasStarted = false;
  #send: ((bytes: Uint8Array, deliver: () => void) => void) | null = null;
  #holdTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | null = null;
  /** Whether the agent has ended its turn; its process's exit code then no longer matters. */
  isComplete = false;
  #isReleased = false;
  #isClosed = false;

  constructor(context: ConversationContext, options: ConversationOptions) {
    this.#options = options;
    this.#context = context;
    const { control, ports, runDir, spec } = context;
    const { request } = options;
    const { workdir } = request;
    const rules = [...ports.approvals, ...(spec.approvals ?? [])];
    this.#policy = { permissions: spec.permissions ?? 'safe', rules, workdir, runDir };
    this.#client = createClient(request, {
      send: (message) => this.#write(message),
      onPermission: (number, kind) => {
        if (kind !== null) this.#kinds.set(number, kind);
      },
      onWithdrawn: (number) => this.#withdraw(number),
      readFile: async (path, lines) => {
        this.#refuseInSandbox(path);
        return readForAgent(workdir, path, lines);
      },
      writeFile: async (path, text) => this.#writeFile(path, text),
      onEnd: () => this.#endTurn(),
      onFailure: (stop) => control.requestStop(stop),
    });
  }

  get canResume(): boolean {
    return this.#client.canResume;
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The questions still open if the process was stopped because no answer arrived within hold_s; otherwise empty. */
  get unansweredPermissions(): readonly PermissionQuestion[] {
    return this.#isReleased ? [...this.#waiting.values()].map(({ question }) => question) : [];
  }

  /** Sets the next turn; its prompt is sent when capturing starts. */
  prepareTurn(turn: Turn): void {
    this.#turn = turn;
    this.#isPrompted = false;
    this.unusedAnswers = turn.storedAnswers;
    this.isComplete = false;
    this.#kinds.clear();
  }

  start(send: (bytes: Uint8Array, deliver: () => void) => void): void {
    this.#send = send;
    if (this.#isPrompted) return;
    this.#isPrompted = true;
    const { prompt } = this.#turn ?? { prompt: '' };
    if (this.#hasStarted) return this.#client.prompt(prompt);
    this.#hasStarted = true;
    this.#client.start(prompt);
    this.#unsubscribe = this.#context.control.onStop((stop) => this.#stop(stop));
  }

  receive(bytes: Uint8Array): void {
    this.#client.receive(bytes);
  }

  /** Called before events are published, so the run is marked as waiting before its question is visible. */
  async beforePublishing(events: readonly Emitted[]): Promise<void> {
    const { control, limits, ports, stopwatch } = this.#context;
    for (const { protocol, event } of events) {
      if (protocol !== 'fcmp' || event.type !== 'permission.required') continue;
      // Questions after the end of a turn are not answered.
      if (this.isComplete) continue;
      const question = event.data;
      const number = Number(question.interaction_id.split('_').at(-1));
      const decided = decideByRules(question, this.#kinds.get(number) ?? null, this.#policy);
      const open = { number, question, approval: this.#recall(question) ?? { ...decided, by: 'rule' as const } };
      if (open.approval.decide === 'ask') {
        control.askPermission(question.interaction_id, question.options, limits.wait_s * 1000);
        this.#waiting.set(question.interaction_id, open);
        stopwatch.pause();
        await ports.onQuestion();
      }
      this.#pendingQuestions.push(open);
    }
  }

  /** Answers requests that rules decide, and waits for the user to answer the others. */
  afterPublishing(): void {
    const pending = this.#pendingQuestions;
    this.#pendingQuestions = [];
    for (const open of pending) {
      const { approval } = open;
      if (approval.decide === 'ask') void this.#waitForPerson(open);
      else this.#answer(open, approval.decide, approval);
    }
  }

  /** Called when the process has exited. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    clearTimeout(this.#holdTimer);
    clearTimeout(this.#endTimer);
    this.#client.close();
    if (!this.#isReleased) this.#context.control.closePermissions();
  }

  #write(message: object): void {
    const line = `${JSON.stringify(message)}\n`;
    const { input } = this.#options.running;
    const maskedLine = this.#turn?.mask(line) ?? line;
    this.#send?.(Buffer.from(maskedLine), () => input.write(Buffer.from(line)));
    if (input.waiting > MAX_UNREAD_BYTES)
      this.#context.control.requestStop({ verdict: 'protocol_broken', reason: 'The agent does not read its input.' });
  }

  /** Returns the answer to the same request given while no process was running; each answer is used once. */
  #recall(question: PermissionQuestion): StoredAnswer | undefined {
    const requestKey = JSON.stringify([question.tool, question.input, question.diff]);
    const storedAnswer = this.unusedAnswers.find(
      ({ question: { tool, input, diff } }) => JSON.stringify([tool, input, diff]) === requestKey,
    );
    this.unusedAnswers = this.unusedAnswers.filter((one) => one !== storedAnswer);
    return storedAnswer;
  }

  async #waitForPerson(open: OpenQuestion): Promise<void> {
    const { control, limits, ports, stopwatch } = this.#context;
    if (this.#client.canResume) {
      clearTimeout(this.#holdTimer);
      this.#holdTimer = setTimeout(() => this.#release(), limits.hold_s * 1000);
    }
    const { interaction_id: id } = open.question;
    const reply = await control.waitForPermission(id);
    // After a release, the session is resumed with the reply, even if this process has not exited yet.
    if (reply === 'stopped' || this.#isClosed || this.#isReleased) return;
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) {
      clearTimeout(this.#holdTimer);
      stopwatch.start();
    } else if (typeof reply !== 'string') {
      // Other requests are still open, although this reply marked the run as continued.
      await ports.onQuestion().catch(() => undefined);
    }
    if (typeof reply === 'string' && this.#waiting.size === 0) await ports.onUnanswered().catch(() => undefined);
    if (reply === 'withdrawn') return;
    const answer = readAnswer(open.question, reply, limits.wait_s);
    this.#answer(open, answer.decide, answer, typeof reply === 'string' ? undefined : reply.option_id);
  }

  #answer({ number, question }: OpenQuestion, decide: 'allow' | 'deny', author: AnswerAuthor, optionId?: string): void {
    const option = optionId ?? chooseOption(question.options, decide)?.id ?? null;
    if (decide === 'allow' && option !== null) for (const path of listPaths(question)) this.#allowedPaths.add(path);
    const { by, who, why } = author;
    this.#client.answer(number, option, { by, ...omitUndefined({ who, why }) });
  }

  /** Closes a request withdrawn by the agent, which would ignore an answer. */
  #withdraw(number: number): void {
    for (const [id, open] of this.#waiting) if (open.number === number) this.#context.control.withdrawPermission(id);
  }

  /** Stops the process because no answer arrived within `hold_s`; its session is resumed with the answer. */
  #release(): void {
    if (this.#isClosed || this.#waiting.size === 0 || this.#context.control.stop !== null) return;
    this.#isReleased = true;
    this.#stopProcess();
  }

  /** Files such as repository hooks and Sluice's data are protected only inside the sandbox. */
  #refuseInSandbox(path: string): void {
    if (!this.#options.isSandboxed) return;
    throw new Error(
      `Access to "${path}" is denied: the agent runs in a sandbox, and must read and write files with its own tools.`,
    );
  }

  async #writeFile(path: string, text: string): Promise<void> {
    this.#refuseInSandbox(path);
    const { permissions, workdir } = this.#policy;
    const resolved = await resolveInFolder(workdir, path);
    const isAllowed =
      permissions === 'workspace' ||
      permissions === 'bypass' ||
      this.#allowedPaths.has(path) ||
      this.#allowedPaths.has(resolved);
    if (!isAllowed) throw new Error(`Access to "${path}" is denied: the agent has no permission to write to it.`);
    await writeForAgent(workdir, path, text);
  }

  #endTurn(): void {
    this.isComplete = true;
    const onEnd = this.#turn?.onEnd;
    if (onEnd === undefined) this.finish();
    else onEnd();
  }

  /** Ends the conversation: closes the agent's input, and terminates its process if it does not exit on its own. */
  finish(): void {
    this.#client.close();
    this.#options.running.input.close();
    clearTimeout(this.#endTimer);
    this.#endTimer = setTimeout(() => this.#stopProcess(), GRACE_MS);
  }

  /** Asks the agent to stop, then terminates its process. */
  #stop({ verdict, reason }: Stop): void {
    const notifiesAgent = verdict === 'canceled' || verdict === 'timed_out';
    if (notifiesAgent && !this.#client.isOver) {
      this.#client.cancel({ by: 'rule', why: reason });
      this.#endTimer = setTimeout(() => this.#stopProcess(), GRACE_MS);
    } else this.#stopProcess();
  }

  #stopProcess(): void {
    void this.#options.running.stop().catch(() => undefined);
  }
}

function createClient(request: AgentRequest, ports: AgentClientPorts): AgentClient {
  const { speaks = 'acp' } = request;
  switch (speaks) {
    case 'acp':
      return new AcpClient(request, ports);
    case 'app-server':
      return new AppServerClient(request, ports);
    case 'claude':
    case 'qwen':
      return new StreamJsonClient(speaks, request, ports);
  }
}
