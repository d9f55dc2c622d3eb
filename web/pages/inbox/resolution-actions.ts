/** What a person can do about an item. */
export type ResolutionAction = 'accept' | 'edit' | 'retry' | 'reject';

/** What an action is called and what it brings about. */
export interface ActionWords {
  readonly action: ResolutionAction;
  readonly label: string;
  /** What happens, for `issue`. */
  readonly effect: (issue: string) => string;
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
    effect: (issue) => `The result counts as it was read. ${issue} goes to review.`,
    button: 'Accept and write the comment',
    question: 'Accept the result?',
  },
  {
    action: 'edit',
    label: 'Edit and accept',
    effect: (issue) => `You write down the result yourself, and it counts as you wrote it. ${issue} goes to review.`,
    button: 'Accept as edited and write the comment',
    question: 'Accept the result as you wrote it?',
  },
  {
    action: 'retry',
    label: 'Retry',
    effect: (issue) =>
      `The order of ${issue} goes out again to the same worker, as a new run. What this run left is archived.`,
    button: 'Retry and write the comment',
    question: 'Send the order out again?',
  },
  {
    action: 'reject',
    label: 'Reject',
    effect: (issue) =>
      `The result does not count. ${issue} becomes blocked until its order is changed and submitted again.`,
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
