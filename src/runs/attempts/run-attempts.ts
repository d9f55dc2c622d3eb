import { advanceTail, writeLateAnswer } from '../../events/index.js';
import { writeAttemptMeta } from '../run-folder/index.js';
import { selectAgentEnvironment } from '../launch/prepare-launch.js';
import { renderFirstPrompt, renderRetry } from '../spec/render-contract.js';
import { buildResult } from '../result/build-result.js';
import type { RunResult } from '../../store/records/index.js';
import { omitUndefined } from '../../base/index.js';
import { readAnswer, type PermissionQuestion, type StoredAnswer } from '../conversation/approvals.js';
import { createAttemptSecrets } from '../secrets/compile-secrets.js';
import type { AttemptPlan } from './capture-process.js';
import { runAttempt, recordUnlaunchedAttempt, type AttemptOutcome } from './run-attempt.js';
import { warn, type RunContext } from './run-context.js';
import type { LiveAgent } from './live-agent.js';
import { computeRemainingWait, type RecoveredRun } from './recover-run.js';
import { explainStop, type Stop } from './run-control.js';
import { collectSession } from './saved-session.js';

/** Runs attempts until one ends the run; each further attempt starts with a reply or a correction. */
export async function runAttempts(
  context: RunContext,
  workdir: string,
  recovered: RecoveredRun | null = null,
): Promise<RunResult> {
  const { spec, usage, stopwatch } = context;
  warnAboutUnreportedCost(context);
  let liveAgent: LiveAgent | null = null;
  const onHeld = async (): Promise<void> => context.ports.onHeld(async () => collectSession(context, workdir));
  const first = { workdir, prompt: renderFirstPrompt(spec), sessionId: spec.session ?? null };
  let plan: AttemptPlan = { ...first, reply: null, storedAnswers: [], agent: null };
  try {
    if (recovered !== null) {
      const next = await decideResumeStep(context, recovered, onHeld);
      if ('ended' in next) return buildResult(next.ended, context);
      plan = { ...plan, ...next };
    }
    for (;;) {
      if (plan.sessionId === null) usage.startSession();
      stopwatch.start();
      // Paused even after an error, because an active timer would keep this process alive.
      const outcome = await runAttempt(context, plan).finally(() => stopwatch.pause());
      liveAgent = outcome.agent;
      const next = await decideNextStep(context, outcome, onHeld);
      if ('ended' in next) {
        warnAboutUnusedApprovals(context, outcome.unusedAnswers);
        return buildResult(next.ended, context);
      }
      const storedAnswers = [...outcome.unusedAnswers, ...(next.storedAnswers ?? [])];
      plan = { ...plan, reply: null, agent: null, ...next, storedAnswers };
    }
  } finally {
    await liveAgent?.end();
  }
}

function warnAboutUnreportedCost(context: RunContext): void {
  const { launcher, limits, ports } = context;
  if (launcher.reportsCost) return;
  if (ports.budget.limitsCost) {
    const message = `The cost limit of the budget has no effect: engine ${launcher.engine} does not report its cost. Add a token limit to the budget.`;
    warn(context, { code: 'COST_NOT_REPORTED', message });
  }
  if (limits.cost === Number.POSITIVE_INFINITY) return;
  const message = `limits.cost has no effect: engine ${launcher.engine} does not report its cost. Use limits.tokens or limits.time_s.`;
  warn(context, { code: 'COST_NOT_REPORTED', message });
}

type NextStep =
  | { readonly ended: AttemptOutcome }
  | (Pick<AttemptPlan, 'prompt' | 'sessionId'> & Partial<Pick<AttemptPlan, 'reply' | 'storedAnswers' | 'agent'>>);

/** Called when a run has waited for `hold_s` without a process. */
type OnHeld = () => Promise<void>;

async function decideNextStep(context: RunContext, outcome: AttemptOutcome, onHeld: OnHeld): Promise<NextStep> {
  const { control, launcher, progress, spec } = context;
  const { last, judged } = outcome;
  if (last.type === 'user.input.required') return waitForReply(context, outcome.agent, onHeld);
  if (outcome.unansweredPermissions.length > 0)
    return waitForPermissions(context, outcome.unansweredPermissions, onHeld);
  const isRetry = last.type === 'diagnostic.warning' && last.data.code === 'OUTPUT_RETRIED';
  if (!isRetry || judged === null || !('error' in judged) || judged.error === undefined) return { ended: outcome };
  progress.retries += 1;
  if (control.stop !== null) return endStopped(context, control.stop);
  const agent = outcome.agent?.isAlive === true ? outcome.agent : null;
  if (agent === null) progress.leftover = (await outcome.agent?.stopBetweenAttempts()) ?? [];
  const sessionId = launcher.canResume || agent !== null ? progress.sessionId : null;
  const prompt = renderRetry(spec, judged.error, sessionId !== null || agent !== null);
  return { prompt, sessionId, agent };
}

async function endStopped(context: RunContext, stop: Stop): Promise<NextStep> {
  return { ended: await recordUnlaunchedAttempt(context, explainStop(stop)) };
}

/**
 * Waits for a user's answer, with limits.time_s paused. A running process is kept waiting too: for `hold_s` if its
 * session can be resumed, otherwise as long as the question is open.
 */
async function waitForReply(
  context: RunContext,
  agent: LiveAgent | null,
  onHeld: OnHeld,
  waitMs = context.limits.wait_s * 1000,
): Promise<NextStep> {
  const { control, limits, launcher, ports, progress } = context;
  const { sessionId } = progress;
  const canResume = sessionId !== null && launcher.canResume && agent?.conversation?.canResume !== false;
  const reason = `No answer within limits.wait_s (${limits.wait_s} s).`;
  const hint = 'Start the run again when someone is available to answer.';
  const timer = setTimeout(() => control.requestStop({ verdict: 'timed_out', reason, hint }), waitMs);
  let held: Promise<void> | undefined;
  const release = (): void => {
    const stopped = agent?.stopBetweenAttempts();
    ports.slot.release();
    held = Promise.resolve(stopped).then(onHeld);
  };
  const hold = canResume ? setTimeout(release, limits.hold_s * 1000) : undefined;
  if (agent === null) ports.slot.release();
  const text = await control.waitForReply();
  clearTimeout(timer);
  clearTimeout(hold);
  // The next process would change the files that are being saved.
  await held;
  const isAlive = typeof text === 'string' && agent?.isAlive === true;
  if (!isAlive) progress.leftover = (await agent?.stopBetweenAttempts()) ?? [];
  await ports.slot.acquire();
  if (typeof text !== 'string') return endStopped(context, text);
  progress.replies += 1;
  if (isAlive || canResume) return { prompt: text, sessionId, reply: text, agent: isAlive ? agent : null };
  const why =
    sessionId === null && launcher.canResume
      ? 'it did not print its session id'
      : agent === null
        ? 'it does not support sessions'
        : 'its process has exited, and its session cannot be resumed';
  const lost = {
    verdict: 'session_lost',
    reason: `Cannot pass the reply to ${launcher.engine}: ${why}. Start a new run with the question and the answer in its prompt.`,
  } as const;
  const reply = createAttemptSecrets(selectAgentEnvironment(context), context.ports.secretPatterns).maskText(text);
  return { ended: await recordUnlaunchedAttempt(context, lost, { sessionId, reply }) };
}

/** A run that lost its worker more often than this is not resumed, because its agent could be the cause. */
const MAX_WORKER_LOSSES = 3;

/** Determines how to continue a run that lost its worker. Its questions have already been reopened. */
async function decideResumeStep(context: RunContext, recovered: RecoveredRun, onHeld: OnHeld): Promise<NextStep> {
  const { launcher, limits, ports } = context;
  const { sessionId } = context.progress;
  const canResume = sessionId !== null && launcher.canResume;
  const end = async (reason: string): Promise<NextStep> => ({
    ended: await recordUnlaunchedAttempt(context, { verdict: 'session_lost', reason }),
  });
  switch (recovered.kind) {
    case 'question':
      return waitForReply(context, null, onHeld, computeRemainingWait(recovered.askedAt, limits.wait_s, ports.clock()));
    case 'permissions':
      if (canResume) return waitForPermissions(context, recovered.questions, onHeld, recovered.answers);
      return end(
        `The permission was denied: the worker was lost, and the session of ${launcher.engine} cannot be resumed. Start a new run.`,
      );
    case 'working':
      if (!canResume)
        return end(`The worker was lost, and the session of ${launcher.engine} cannot be resumed. Start a new run.`);
      if (recovered.losses > MAX_WORKER_LOSSES)
        return end(`The worker was lost ${recovered.losses} times. Start a new run.`);
      return { prompt: INTERRUPTED_PROMPT, sessionId };
  }
}

const INTERRUPTED_PROMPT =
  'You were interrupted while you were working. Check what is already done, then finish your task.';

/**
 * Waits for answers to the permission requests that the exited process left open, then resumes the session, even if no
 * answer arrived. Each answer is recorded when it arrives. `answers` were given before the worker was lost.
 */
async function waitForPermissions(
  context: RunContext,
  questions: readonly PermissionQuestion[],
  onHeld: OnHeld,
  answers: readonly StoredAnswer[] = [],
): Promise<NextStep> {
  const { control, limits, ports, progress } = context;
  ports.slot.release();
  let held = onHeld();
  // One at a time, because the events of an answer are numbered after those of the previous one.
  let recording = Promise.resolve();
  const waitForAnswer = async (question: PermissionQuestion): Promise<StoredAnswer> => {
    const reply = await control.waitForPermission(question.interaction_id);
    const answer = readAnswer(question, reply, limits.wait_s);
    if (control.stop !== null) return answer;
    recording = recording.then(async () => recordAnswer(context, answer));
    await recording;
    // Other requests are still open, although this answer marked the run as continued.
    if (answer.by === 'person' && control.isWaiting) {
      await ports.onQuestion().catch(() => undefined);
      held = held.then(onHeld);
    }
    return answer;
  };
  const storedAnswers = [...answers, ...(await Promise.all(questions.map(waitForAnswer)))];
  await held;
  if (control.stop !== null) return endStopped(context, control.stop);
  if (storedAnswers.some(({ by }) => by === 'rule')) await ports.onUnanswered().catch(() => undefined);
  progress.replies += 1;
  await ports.slot.acquire();
  return { prompt: renderPermissions(storedAnswers), sessionId: progress.sessionId, storedAnswers };
}

/** Records an answer that arrived after the process that asked was stopped: in the attempt that asked. */
async function recordAnswer(context: RunContext, { question, decide, optionId, by, who, why }: StoredAnswer) {
  const { findings, folder, journal, ports, progress } = context;
  const secrets = createAttemptSecrets(selectAgentEnvironment(context), ports.secretPatterns);
  const mask = (text: string | undefined) => (text === undefined ? undefined : secrets.maskText(text));
  const answer = {
    interaction_id: question.interaction_id,
    decision: decide,
    option_id: optionId,
    by,
    ...omitUndefined({ who: mask(who), why: mask(why) }),
  };
  const now = Math.floor(ports.clock());
  const meta = await folder.meta(progress.attempts);
  const answers = [...(meta.answers ?? []), { ...answer, at: new Date(now).toISOString() }];
  await writeAttemptMeta(folder, progress.attempts, { ...meta, answers });
  const events = writeLateAnswer(progress.tail, answer, now);
  progress.tail = advanceTail(progress.tail, events);
  findings.add(events);
  await journal.write(events);
}

/** Warns about approvals that the resumed agent did not use, because it never repeated the call. */
function warnAboutUnusedApprovals(context: RunContext, answers: readonly StoredAnswer[]): void {
  const unused = answers.filter(({ decide, by }) => decide === 'allow' && by === 'person');
  if (unused.length === 0) return;
  const calls = unused.map(({ question: { tool, interaction_id: id } }) => `${tool} (${id})`).join(', ');
  const message = `Allowed, but never executed: ${calls}. The agent was resumed with the answer and did not repeat the call.`;
  warn(context, { code: 'APPROVAL_UNUSED', message });
}

/** The resumed agent requests the permissions again, and then receives the stored answers. */
function renderPermissions(storedAnswers: readonly StoredAnswer[]): string {
  const lines = storedAnswers.map(
    ({ question, decide, why }) =>
      `- ${question.tool}: ${decide === 'allow' ? 'allowed' : 'denied'}${why === undefined ? '' : ` (${why})`}`,
  );
  return `You were interrupted while you were waiting for a permission. The answer:\n${lines.join('\n')}\nContinue with your task: repeat the tool calls that were allowed, and work without those that were denied.`;
}
