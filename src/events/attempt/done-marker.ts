/** The marker as JSON, and as JSON inside of a JSON string. Old agents print it in lower case. */
const MARKER = /\\?"__(?:SKILL_DONE|skill_done)__\\?"\s*:\s*true\b/u;

/** An agent that shows the skill it follows quotes the marker without meaning it; an unclosed quote reaches to the end. */
const QUOTED_SKILL = /<skill_content\b[^]*?(?:<\/skill_content>|$)/gu;

/**
 * Whether the agent says in this text that it has finished. Give it only the agent's own words.
 *
 * @example
 * hasDoneMarker('{"__SKILL_DONE__": true}') // true
 */
export function hasDoneMarker(text: string): boolean {
  if (!text.includes('__SKILL_DONE__') && !text.includes('__skill_done__')) return false;
  return MARKER.test(text.replaceAll(QUOTED_SKILL, ''));
}
