import type { Emitted } from '../../events/index.js';
import type { PermissionReply } from '../../records/index.js';
import type { CapturedConversation } from '../capture/capture-output.js';
import type { RunControl, Stop } from '../attempts/run-control.js';
import type { Stopwatch } from '../attempts/stopwatch.js';
import { AcpClient } from './acp-client.js';
import type { AcpRequest } from './acp-client.js';
import { chooseOption, decideByRules, listPaths } from './approvals.js';
import type { Approval, ApprovalPolicy, PermissionQuestion } from './approvals.js';
import { placeInFolder, readForAgent, writeForAgent } from './client-files.js';

/** What was answered to a question whose process did not live to hear it. */
export interface RememberedAnswer {
  readonly question: PermissionQuestion;
  readonly decide: 'allow' | 'deny';
  readonly by: 'rule' | 'person';
  readonly who?: string;
  readonly why?: string;
}

/** What a conversation needs. */
export interface ConversationOptions {
  readonly request: AcpRequest;
  readonly policy: ApprovalPolicy;
  readonly remembered: readonly RememberedAnswer[];
  readonly control: RunControl;
  readonly stopwatch: Stopwatch;
  readonly waitMs: number;
  readonly holdMs: number;
  /** Records that the run waits, before its question is published. */
  readonly onQuestion: () => Promise<void>;
  /** Records that it does not wait any more, since nobody answered. */
  readonly onUnanswered: () => Promise<void>;
  /** Masks secrets in what is stored of a message. */
  readonly mask: (text: string) => string;
  /** The input and the end of the process. */
  readonly process: {
    write(bytes: Uint8Array): void;
    readonly waiting: number;
    closeInput(): void;
    stop(): void;
  };
}

interface OpenQuestion {
  readonly number: number;
  readonly question: PermissionQuestion;
  readonly approval: Approval & { readonly by: 'rule' | 'person'; readonly who?: string };
}

/** How long an agent may take to end by itself, when its turn is over or canceled. */
const GRACE_MS = 2000;

/** Bytes an agent may leave unread on its input; beyond that it does not read at all. */
const MAX_UNREAD = 32 * 1024 * 1024;

/**
 * Talks with the agent of one attempt: sends the prompt, answers what it asks, by rules or by a person, and ends the
 * process when the turn is over.
 */
export class Conversation implements CapturedConversation {
  readonly #options: ConversationOptions;
  readonly #client: AcpClient;
  readonly #kinds = new Map<number, string>();
  /** Questions whose events are about to be published. */
  #considered: OpenQuestion[] = [];
  /** Questions a person has to answer. */
  readonly #waiting = new Map<string, PermissionQuestion>();
  /** Files the agent was allowed to change. */
  readonly #allowedPaths = new Set<string>();
  #remembered: readonly RememberedAnswer[];
  #send: ((bytes: Uint8Array, deliver: () => void) => void) | null = null;
  #holdTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | null = null;
  #isComplete = false;
  #isReleased = false;
  #isClosed = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#remembered = options.remembered;
    const { control, policy, request } = options;
    const stop = (verdict: Stop['verdict'], reason: string, hint: string): void => {
      control.requestStop({ verdict, reason, hint });
    };
    this.#client = new AcpClient(request, {
      send: (message) => this.#write(message),
      onPermission: (number, kind) => {
        if (kind !== null) this.#kinds.set(number, kind);
      },
      readFile: async (path, lines) => readForAgent(policy.workdir, path, lines),
      writeFile: async (path, text) => this.#writeFile(path, text),
      onEnd: () => this.#end(),
      onSessionLost: (reason) =>
        stop(
          'session_lost',
          `The session ${request.sessionId ?? ''} cannot be resumed: ${reason}.`,
          'Start a new run.',
        ),
      onBroken: (reason) =>
        stop('protocol_broken', `The agent broke the protocol: ${reason}.`, 'Its bytes are in the run folder.'),
    });
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether the agent has ended its turn: how its process ends says nothing any more. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The questions for whose answers the process was not kept; empty if it ended otherwise. */
  get released(): readonly PermissionQuestion[] {
    return this.#isReleased ? [...this.#waiting.values()] : [];
  }

  start(send: (bytes: Uint8Array, deliver: () => void) => void): void {
    this.#send = send;
    this.#client.start();
    this.#unsubscribe = this.#options.control.onStop((stop) => this.#stop(stop));
  }

  receive(bytes: Uint8Array): void {
    this.#client.receive(bytes);
  }

  /** Events are about to be published: a run waits before its question can be seen. */
  async beforePublishing(events: readonly Emitted[]): Promise<void> {
    const { policy, onQuestion, control } = this.#options;
    for (const { protocol, event } of events) {
      if (protocol !== 'fcmp' || event.type !== 'permission.required') continue;
      const question = event.data;
      const number = Number(question.interaction_id.split('_').at(-1));
      const known = this.#recall(question);
      const approval = known ?? {
        ...decideByRules(question, this.#kinds.get(number) ?? null, policy),
        by: 'rule' as const,
      };
      if (approval.decide === 'ask') {
        control.askPermission(question.interaction_id, question.options, this.#options.waitMs);
        this.#waiting.set(question.interaction_id, question);
        this.#options.stopwatch.pause();
        await onQuestion();
      }
      this.#considered.push({ number, question, approval });
    }
  }

  /** Events were published: what rules decided is answered, for the rest a person is waited for. */
  afterPublishing(): void {
    const considered = this.#considered;
    this.#considered = [];
    for (const open of considered) {
      const { approval } = open;
      if (approval.decide === 'ask') void this.#waitForPerson(open);
      else this.#answer(open, approval.decide, approval);
    }
  }

  /** The process has ended. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    clearTimeout(this.#holdTimer);
    clearTimeout(this.#endTimer);
    this.#client.close();
    if (!this.#isReleased) this.#options.control.closePermissions();
  }

  #write(message: object): void {
    const line = `${JSON.stringify(message)}\n`;
    const { mask, process, control } = this.#options;
    this.#send?.(Buffer.from(mask(line)), () => process.write(Buffer.from(line)));
    if (process.waiting > MAX_UNREAD)
      control.requestStop({ verdict: 'protocol_broken', reason: 'The agent does not read what it is sent.' });
  }

  /** The answer to the same question, given while no process was there to hear it; it counts once. */
  #recall(question: PermissionQuestion): OpenQuestion['approval'] | undefined {
    const same = JSON.stringify([question.tool, question.input, question.diff]);
    const found = this.#remembered.find(
      ({ question: { tool, input, diff } }) => JSON.stringify([tool, input, diff]) === same,
    );
    if (found === undefined) return undefined;
    this.#remembered = this.#remembered.filter((one) => one !== found);
    const { decide, by, who, why } = found;
    return { decide, by, ...(who === undefined ? {} : { who }), ...(why === undefined ? {} : { why }) };
  }

  async #waitForPerson(open: OpenQuestion): Promise<void> {
    const { control, waitMs, holdMs } = this.#options;
    if (this.#client.canResume) {
      clearTimeout(this.#holdTimer);
      this.#holdTimer = setTimeout(() => this.#release(), holdMs);
    }
    const { interaction_id: id, options } = open.question;
    const reply = await control.permissionAnswered(id);
    if (reply === 'stopped' || this.#isClosed) return;
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) {
      clearTimeout(this.#holdTimer);
      this.#options.stopwatch.start();
    } else if (reply !== 'silent') {
      // The others still wait, and whoever took this reply thinks that the run goes on.
      await this.#options.onQuestion().catch(() => undefined);
    }
    if (reply === 'silent') {
      if (this.#waiting.size === 0) await this.#options.onUnanswered().catch(() => undefined);
      const why = `No answer within limits.wait_s (${waitMs / 1000} s).`;
      return this.#answer(open, 'deny', { by: 'rule', why });
    }
    const chosen = options.find((option) => option.id === reply.option_id);
    const decide = chosen?.kind.startsWith('allow') === true ? 'allow' : 'deny';
    this.#answer(open, decide, { by: 'person', ...readAuthor(reply) }, reply.option_id);
  }

  #answer({ number, question }: OpenQuestion, decide: 'allow' | 'deny', about: object, optionId?: string): void {
    const option = optionId ?? chooseOption(question.options, decide)?.id ?? null;
    if (decide === 'allow' && option !== null) for (const path of listPaths(question)) this.#allowedPaths.add(path);
    const { by, who, why } = about as { by?: string; who?: string; why?: string };
    this.#client.answer(number, option, {
      by,
      ...(who === undefined ? {} : { who }),
      ...(why === undefined ? {} : { why }),
    });
  }

  /** Nobody has answered for a while: the process is ended, and resumed with the answer. */
  #release(): void {
    if (this.#isClosed || this.#waiting.size === 0 || this.#options.control.stop !== null) return;
    this.#isReleased = true;
    this.#options.process.stop();
  }

  async #writeFile(path: string, text: string): Promise<void> {
    const { permissions, workdir } = this.#options.policy;
    const place = await placeInFolder(workdir, path);
    const isAllowed =
      permissions === 'workspace' ||
      permissions === 'bypass' ||
      this.#allowedPaths.has(path) ||
      this.#allowedPaths.has(place);
    if (!isAllowed) throw new Error(`${path} is refused: writing it was not allowed.`);
    await writeForAgent(workdir, path, text);
  }

  #end(): void {
    this.#isComplete = true;
    const { process } = this.#options;
    process.closeInput();
    this.#endTimer = setTimeout(() => process.stop(), GRACE_MS);
  }

  /** Asks the agent to stop, then ends its process. */
  #stop({ verdict, reason }: Stop): void {
    const { process } = this.#options;
    const isPolite = verdict === 'canceled' || verdict === 'timed_out';
    if (isPolite && !this.#client.isOver) {
      this.#client.cancel({ by: 'rule', why: reason });
      this.#endTimer = setTimeout(() => process.stop(), GRACE_MS);
    } else process.stop();
  }
}

function readAuthor({ who, why }: PermissionReply) {
  return { ...(who === undefined ? {} : { who }), ...(why === undefined ? {} : { why }) };
}
