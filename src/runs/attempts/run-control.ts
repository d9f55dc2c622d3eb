import { SluiceError } from '../../base/index.js';
import type { PermissionOption } from '../../events/index.js';
import type { PermissionReply } from '../../store/records/index.js';
import { CAUSE_HINTS, type EngineFailure } from '../result/run-findings.js';

/** Why Sluice itself ends a run. */
export interface Stop {
  readonly verdict:
    | 'canceled'
    | 'timed_out'
    | 'limit'
    | 'storage_limit'
    | 'budget'
    | 'engine_failed'
    | 'session_lost'
    | 'protocol_broken'
    | 'not_started'
    | 'detached';
  readonly reason: string;
  readonly hint?: string;
}

/**
 * Converts a stop to a verdict and a message. Throws `RUN_DETACHED` if the run was detached while waiting, because it
 * has not ended. If a run timed out while its engine kept failing, the engine's error replaces the hint, because more
 * time would not help.
 */
export function explainStop({ verdict, reason, hint }: Stop, engineFailure: EngineFailure | null = null) {
  if (verdict === 'detached') throw new SluiceError('RUN_DETACHED', reason);
  if (engineFailure !== null && verdict !== 'canceled') {
    const error = engineFailure.message.replace(/[.\s]+$/, '');
    return { verdict, reason: `${reason} Last engine error: ${error}. ${CAUSE_HINTS[engineFailure.cause]}` };
  }
  return { verdict, reason: hint === undefined ? reason : `${reason} ${hint}` };
}

/** How a wait for a permission ended: with an answer, a timeout, a withdrawn request, or the end of the run. */
export type PermissionOutcome = PermissionReply | 'unanswered' | 'withdrawn' | 'stopped';

/** A question that accepts one answer; later ones have no effect. */
class Question<Answer> {
  isOpen = true;
  readonly answer: Promise<Answer>;
  #resolve: ((answer: Answer) => void) | undefined;

  constructor() {
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  settle(answer: Answer): void {
    this.isOpen = false;
    this.#resolve?.(answer);
  }
}

interface OpenPermission {
  readonly options: readonly PermissionOption[];
  readonly question: Question<PermissionOutcome>;
}

/** In characters. Longer replies belong in files in the working folder. */
const MAX_REPLY_LENGTH = 1024 * 1024;

/** Controls a run on behalf of its owner and its limits. */
export class RunControl {
  #stop: Stop | null = null;
  #isOver = false;
  readonly #listeners = new Set<(stop: Stop) => void>();
  #question: Question<string | Stop> | null = null;
  readonly #permissions = new Map<string, OpenPermission>();

  get stop(): Stop | null {
    return this.#stop;
  }

  /** Stops the run; later stops have no effect. */
  requestStop(stop: Stop): void {
    if (this.#stop !== null || this.#isOver) return;
    this.#stop = stop;
    for (const listener of this.#listeners) listener(stop);
    this.#question?.settle(stop);
    this.closePermissions();
  }

  /** Calls the listener when the run is stopped, immediately if it already was; returns a function that unsubscribes. */
  onStop(listener: (stop: Stop) => void): () => void {
    if (this.#stop !== null) listener(this.#stop);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isWaiting(): boolean {
    return this.#question?.isOpen === true || this.#listOpenPermissions().length > 0;
  }

  /** Opens the agent's question: from now on a reply is accepted. */
  ask(): Question<string | Stop> {
    const question = new Question<string | Stop>();
    if (this.#stop !== null) question.settle(this.#stop);
    this.#question = question;
    return question;
  }

  /** Opens a permission request: from now on an answer is accepted, until the time is up. */
  askPermission(id: string, options: readonly PermissionOption[], waitMs: number): void {
    const question = new Question<PermissionOutcome>();
    const timer = setTimeout(() => question.settle('unanswered'), waitMs);
    void question.answer.then(() => clearTimeout(timer));
    this.#permissions.set(id, { options, question });
    if (this.#stop !== null) this.closePermissions();
  }

  /** Accepts the answer to a permission request; throws `REPLY_NOT_EXPECTED` if it is not open. */
  replyPermission(reply: PermissionReply): void {
    const { interaction_id: id, option_id: optionId } = reply;
    const open = this.#permissions.get(id);
    if (open?.question.isOpen !== true) {
      const openIds = this.#listOpenPermissions().join(', ');
      const why = openIds === '' ? 'no permission request is open' : `the open requests are ${openIds}`;
      throw new SluiceError('REPLY_NOT_EXPECTED', `No reply to ${id} is expected: ${why}.`);
    }
    if (!open.options.some((option) => option.id === optionId)) {
      const known = open.options.map((option) => option.id).join(', ');
      throw new SluiceError('INVALID_REPLY', `Invalid reply: ${id} has no option "${optionId}". Use one of: ${known}.`);
    }
    open.question.settle(reply);
  }

  #listOpenPermissions(): string[] {
    return [...this.#permissions].flatMap(([id, { question }]) => (question.isOpen ? [id] : []));
  }

  async waitForPermission(id: string): Promise<PermissionOutcome> {
    return (await this.#permissions.get(id)?.question.answer) ?? 'stopped';
  }

  withdrawPermission(id: string): void {
    this.#permissions.get(id)?.question.settle('withdrawn');
  }

  closePermissions(): void {
    for (const { question } of this.#permissions.values()) question.settle('stopped');
  }

  /** Accepts a user's reply; throws `REPLY_NOT_EXPECTED` if nothing was asked. */
  reply(text: string): void {
    if (text.trim() === '' || text.length > MAX_REPLY_LENGTH) {
      const problem =
        text.trim() === ''
          ? 'it is empty'
          : `it is longer than ${MAX_REPLY_LENGTH} characters. Put long text into files`;
      throw new SluiceError('INVALID_REPLY', `Invalid reply: ${problem}.`);
    }
    if (this.#question?.isOpen !== true) {
      const hasEnded = this.#isOver || this.#stop !== null;
      const why = hasEnded ? 'the run has ended' : 'the agent has not asked anything. Wait for user.input.required';
      throw new SluiceError('REPLY_NOT_EXPECTED', `No reply is expected: ${why}.`);
    }
    this.#question.settle(text);
  }

  async waitForReply(): Promise<string | Stop> {
    const question = this.#question ?? this.ask();
    const answer = await question.answer;
    this.#question = null;
    return answer;
  }

  /** Call this when the run has ended: later stops and replies have no effect. */
  end(): void {
    this.#isOver = true;
    this.#question = null;
    this.#listeners.clear();
    this.closePermissions();
  }
}

export type Stopwatch = ReturnType<typeof createStopwatch>;

/**
 * Measures a run's working time, excluding time spent waiting for a user, and stops the run at its time limit. Starting
 * it twice has no effect.
 */
export function createStopwatch(seconds: number, control: RunControl) {
  let left = seconds * 1000;
  let since: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  return {
    start(): void {
      if (since !== null) return;
      since = performance.now();
      const reason = `The run worked longer than limits.time_s (${seconds} s).`;
      const hint = 'Raise the limit, or give the agent a smaller task.';
      timer = setTimeout(() => control.requestStop({ verdict: 'timed_out', reason, hint }), Math.max(0, left));
    },
    pause(): void {
      if (since === null) return;
      clearTimeout(timer);
      left -= performance.now() - since;
      since = null;
    },
  };
}
