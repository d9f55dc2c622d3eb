import type { FcmpData, FcmpEvent } from '../../../src/events/index.js';
import type { Conversation } from './conversation.js';

/** One attempt of a run, to be compared with the others. */
export interface AttemptSummary {
  readonly attempt: number;
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly tools: number;
  readonly failedTools: number;
  /** The user's answer that started the attempt; null for the first attempt and for retries. */
  readonly reply: string | null;
  /** The last message. */
  readonly lastText: string | null;
  /** How the attempt ended: its reason code, its error code, or a label for a question; null while it is running. */
  readonly end: string | null;
  readonly usage: Usage;
}

type Usage = FcmpData<'conversation.completed'>['usage'] | null;

/** The maximum number of compared attempts; the conversation has all of them. */
const MAX_ATTEMPTS = 20;

/** Summarizes a conversation's attempts for comparison. */
export function summarizeAttempts(
  conversation: Pick<Conversation, 'events' | 'times' | 'items'>,
): readonly AttemptSummary[] {
  const { events, times, items } = conversation;
  const attempts = new Map<number, MutableSummary>();
  for (const item of items) {
    const first = events[item.events[0] ?? 0];
    const lastIndex = item.events.at(-1) ?? 0;
    const last = events[lastIndex];
    if (first === undefined || last === undefined) continue;
    const { attempt } = first.meta;
    const summary = attempts.get(attempt) ?? createSummary(attempt, times[item.events[0] ?? 0] ?? 0);
    if (!attempts.has(attempt) && attempts.size >= MAX_ATTEMPTS) continue;
    attempts.set(attempt, summary);
    summary.to = Math.max(summary.to, times[lastIndex] ?? 0);
    addItem(summary, last);
  }
  return [...attempts.values()];
}

/** Adds an item to the summary, by its last event. */
function addItem(summary: MutableSummary, last: FcmpEvent): void {
  if (last.type === 'assistant.message.final') {
    summary.messages += 1;
    summary.lastText = last.data.text;
  } else if (last.type === 'assistant.tool_call') {
    summary.tools += 1;
    if (last.data.status === 'failed') summary.failedTools += 1;
  } else if (last.type === 'user.input.replied') summary.reply = last.data.text;
  else if (last.type === 'user.input.required') summary.end = 'Asked a question';
  else if (last.type === 'conversation.completed') {
    summary.end = last.data.reason_code;
    summary.usage = last.data.usage;
  } else if (last.type === 'conversation.failed') {
    summary.end = last.data.error.code;
    summary.usage = last.data.usage;
  }
}

type MutableSummary = { -readonly [Key in keyof AttemptSummary]: AttemptSummary[Key] };

function createSummary(attempt: number, from: number): MutableSummary {
  return {
    attempt,
    from,
    to: from,
    messages: 0,
    tools: 0,
    failedTools: 0,
    reply: null,
    lastText: null,
    end: null,
    usage: null,
  };
}
