import type { FcmpData } from '../protocol/fcmp-event.js';

/** What a tool returned, as text: strings as they are, other values as JSON, an error first. */
export function toolResultText(call: FcmpData<'assistant.tool_call'>): string {
  const parts: string[] = [];
  if (call.error !== undefined) parts.push(call.error);
  if (call.output !== undefined)
    parts.push(typeof call.output === 'string' ? call.output : JSON.stringify(call.output));
  return parts.join('\n');
}
