import { cutText } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { INSTRUCTIONS_LENGTH, lineComments } from '../../store/records/index.js';
import type { LineComment, OrderRecord, Resolution, WorkOrder } from '../../store/records/index.js';
import { showLine } from '../plain-text.js';
import { checkShape } from '../shapes/check-shape.js';

const schema = fromRecordSchema<readonly LineComment[]>(lineComments);

/** Lists the problems of the comments in a request, as clauses. */
export function findCommentProblems(comments: unknown): readonly string[] {
  if (comments === undefined) return [];
  const { problems = [] } = checkShape(schema, comments);
  return problems
    .slice(0, 5)
    .map(({ path, message }) => (path === undefined ? `comments: ${message}` : `comments.${path}: ${message}`));
}

type RepeatedOrder = Omit<WorkOrder, 'run_id' | 'request_id'>;

/**
 * Creates the order for a retry. It continues from the reviewed commit, at the same path and in the same session, if
 * Sluice has confirmed that commit; otherwise it starts over. Its instructions end with the review comments. In a race,
 * only the reviewed run is repeated.
 */
export function continueFromReview(
  { start_commit: _, start_run: __, start_folder: folder, race: ___, ...original }: RepeatedOrder,
  { order, run, result, decision }: Pick<OrderRecord, 'order' | 'run' | 'result' | 'decision'>,
  resolution: Pick<Resolution, 'who' | 'why' | 'comments'>,
): RepeatedOrder {
  const isConfirmed = decision?.evidence?.some(({ claim, verdict }) => claim === 'commit' && verdict === 'confirmed');
  const commit = isConfirmed === true ? result?.changes.commit : undefined;
  const { comments = [] } = resolution;
  return {
    ...original,
    ...(commit === undefined ? {} : { start_commit: commit, start_run: run, start_folder: folder ?? run }),
    ...(comments.length === 0
      ? {}
      : { instructions: addReview(original.instructions, order.run_id, resolution, comments) }),
  };
}

/** Adds the comments to the instructions, as far as the length limit allows. The instructions are never shortened. */
function addReview(
  instructions: string,
  runId: string,
  { who, why }: Pick<Resolution, 'who' | 'why'>,
  comments: readonly LineComment[],
): string {
  const lines = [
    `\n\n## Review of run ${runId}`,
    `${showLine(who, 100)} reviewed that run's change and requests corrections: ${showLine(why, 1000)}\n`,
    ...comments.map((comment) => `- ${describeLine(comment)}: ${comment.text.trim().replaceAll(/\r\n?|\n/g, '\n  ')}`),
  ];
  const review = lines.join('\n');
  const room = INSTRUCTIONS_LENGTH - instructions.length;
  if (review.length <= room) return instructions + review;
  const notice = '… (truncated: the instructions are too long)';
  return room < notice.length ? instructions : `${instructions}${cutText(review, room - notice.length)}${notice}`;
}

/** Describes the line that a comment refers to. */
export function describeLine({ path, line, side }: LineComment): string {
  return `${showLine(path, 500)}, line ${line}${side === 'old' ? ' before the change' : ''}`;
}
