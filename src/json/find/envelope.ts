import { MAX_CONTAINERS, MAX_CONTENT_DEPTH } from '../bounds.js';
import { isContainer } from '../limits.js';

/** Fields that APIs and CLIs use for a model's answer, most specific first. */
const TEXT_FIELDS =
  'structured_output response result output content text message arguments args parameters input'.split(' ');
/** Fields whose values can contain the fields above. */
const WRAPPER_FIELDS =
  'toolUse functionCall item part parts data delta choices candidates tool_calls function messages event'.split(' ');
const NON_ASSISTANT_ROLES: readonly unknown[] = 'user system tool developer tool_result function'.split(' ');

/**
 * Lists the possible contents of an envelope in the order they are tried: strings, and objects in answer fields. A JSON
 * string containing JSON is an envelope too. User and tool messages are skipped.
 */
export function listEnvelopeContents(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [value];
  const contents: unknown[] = [];
  collect(value, 0, contents, { containers: 0 });
  return contents;
}

function collect(value: unknown, depth: number, contents: unknown[], counts: { containers: number }): void {
  if (!isContainer(value) || depth > MAX_CONTENT_DEPTH || ++counts.containers > MAX_CONTAINERS) return;
  if (Array.isArray(value)) {
    const texts = collectBlockText(value);
    if (texts.length > 1) contents.push(texts.join(''));
    for (const item of value.toReversed()) collect(item, depth + 1, contents, counts);
    return;
  }
  if (
    NON_ASSISTANT_ROLES.includes(value['role']) ||
    (value['type'] !== 'function' && NON_ASSISTANT_ROLES.includes(value['type']))
  )
    return;
  for (const name of TEXT_FIELDS) {
    const content = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof content === 'string') contents.push(content);
    else if (isContainer(content)) {
      if (!Array.isArray(content)) contents.push(content);
      collect(content, depth + 1, contents, counts);
    }
  }
  for (const name of WRAPPER_FIELDS) if (Object.hasOwn(value, name)) collect(value[name], depth + 1, contents, counts);
}

/** Joins the text of content blocks, which together form one message. */
function collectBlockText(blocks: readonly unknown[]): string[] {
  return blocks.flatMap((block) => {
    return isContainer(block) && typeof block['text'] === 'string' ? [block['text']] : [];
  });
}
