/** What a person can do about an item. */
export type ResolutionAction = 'accept' | 'edit' | 'retry' | 'reject';

/** What an action is called and what it brings about. */
export interface ActionWords {
  readonly action: ResolutionAction;
  readonly label: string;
  /** What choosing it means. */
  readonly help: string;
  /** What becomes of the issue. */
  readonly outcome: (issue: string) => string;
  /** On the button that does it. */
  readonly button: string;
  /** The question before it is done. */
  readonly question: string;
}

/** In the order they are offered: the gentlest first. */
export const ACTIONS: readonly ActionWords[] = [
  {
    action: 'accept',
    label: 'Accept',
    help: 'The result counts as it was read; the issue goes to review.',
    outcome: (issue) => `The result counts, and ${issue} goes to review.`,
    button: 'Accept and write the comment',
    question: 'Accept the result?',
  },
  {
    action: 'edit',
    label: 'Edit and accept',
    help: 'You write the result down yourself, and it counts as you wrote it; the issue goes to review.',
    outcome: (issue) => `The result counts as you wrote it, and ${issue} goes to review.`,
    button: 'Accept as edited and write the comment',
    question: 'Accept the result as you wrote it?',
  },
  {
    action: 'retry',
    label: 'Retry',
    help: 'The order goes out again to the same worker, as a new run. What this run left is archived.',
    outcome: (issue) => `A new run begins for ${issue}, and this one does not count any more.`,
    button: 'Retry and write the comment',
    question: 'Send the order out again?',
  },
  {
    action: 'reject',
    label: 'Reject',
    help: 'The result does not count; the issue is blocked until its order is changed and given again.',
    outcome: (issue) => `The result does not count, and ${issue} is blocked until its order is given again.`,
    button: 'Reject and write the comment',
    question: 'Reject the result?',
  },
];

/** What a settled item says was done. */
export function wordsOfResolution(action: string): string {
  return WORDS[action] ?? action;
}

const WORDS: Readonly<Record<string, string>> = {
  accept: 'accepted the result',
  edit: 'corrected the result and accepted it',
  retry: 'sent the order out again',
  reject: 'rejected the result',
  superseded: 'gave a new order, and the question went with the run it was about',
};
