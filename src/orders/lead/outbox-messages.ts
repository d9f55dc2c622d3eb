import type { NewOutboxMessage } from '../../records/index.js';
import type { LeadContext } from './lead-context.js';

/** One message for every sink that takes issues of this kind. */
export function outboxMessages(
  { sinks, newId }: Pick<LeadContext, 'sinks' | 'newId'>,
  about: { readonly issueRef: string; readonly trigger: string },
  body: string,
): readonly NewOutboxMessage[] {
  return sinks
    .filter((sink) => sink.accepts(about.issueRef))
    .map(({ name }) => ({ id: newId(), sink: name, issue_ref: about.issueRef, trigger: about.trigger, body }));
}
