/** Words for answers and tool output; characters in the second set have three bytes. */
const WORDS = {
  ASCII: ['the', 'parser', 'reads', 'every', 'line', 'once', 'and', 'keeps', 'what', 'it', 'cannot', 'name'],
  CJK: ['解析器', '逐行', '读取', '原始输出', '并且', '保留', '无法', '识别', '的', '内容', '。', '一次'],
} as const;

/** A log's character set. */
export type LogScript = keyof typeof WORDS;

/** Agents whose logs can be generated. */
export type LogEngine = 'codex' | 'claude' | 'acp';

/**
 * Generates a log of about this many bytes with lines of about this many bytes, in which messages and tool calls alternate.
 */
export function createAgentLog(engine: LogEngine, script: LogScript, lineBytes: number, bytes: number): Uint8Array {
  const encoder = new TextEncoder();
  const lines: Uint8Array[] = [];
  let total = 0;
  for (let index = 0; total < bytes; index++) {
    const frame = JSON.stringify(createRecord(engine, index, ''));
    const line = encoder.encode(
      `${JSON.stringify(createRecord(engine, index, fill(script, lineBytes - frame.length, index)))}\n`,
    );
    lines.push(line);
    total += line.length;
  }
  return join(lines, total);
}

/** Cuts a log into chunks, as a pipe delivers it. */
export function splitLog(log: Uint8Array, size = 65_536): Uint8Array[] {
  return Array.from({ length: Math.ceil(log.length / size) }, (_, index) =>
    log.subarray(index * size, (index + 1) * size),
  );
}

function fill(script: LogScript, bytes: number, seed: number): string {
  const words = WORDS[script];
  const isWide = script === 'CJK';
  let text = '';
  for (let count = 0; text.length * (isWide ? 3 : 1) < bytes; count++)
    text += `${words[(seed * 7 + count * 5) % words.length] ?? ''}${isWide ? '' : ' '}`;
  return text.trimEnd();
}

function createRecord(engine: LogEngine, index: number, text: string): object {
  switch (engine) {
    case 'codex':
      return createCodexRecord(index, text);
    case 'claude':
      return createClaudeRecord(index, text);
    case 'acp':
      return createAcpRecord(index, text);
  }
}

function createAcpRecord(index: number, text: string): object {
  const toolCallId = `call_${Math.floor(index / 3)}`;
  const content = { type: 'text', text };
  const update = [
    { sessionUpdate: 'agent_message_chunk', content },
    { sessionUpdate: 'tool_call', toolCallId, title: 'Run', kind: 'execute', rawInput: { command: text } },
    { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', content: [{ type: 'content', content }] },
  ][index % 3];
  const params = { sessionId: 'c0ffee00-0000-4000-8000-000000000001', update };
  return { jsonrpc: '2.0', method: 'session/update', params };
}

function createCodexRecord(index: number, text: string): object {
  if (index === 0) return { type: 'thread.started', thread_id: '0199a213-81c0-7800-8aa1-bbab2a035a53' };
  const id = `item_${Math.floor(index / 3)}`;
  if (index % 3 === 0) return { type: 'item.completed', item: { id, type: 'agent_message', text } };
  const isStart = index % 3 === 1;
  return {
    type: isStart ? 'item.started' : 'item.completed',
    item: {
      id: `${id}c`,
      type: 'command_execution',
      command: isStart ? text : 'ls',
      aggregated_output: isStart ? '' : text,
      exit_code: isStart ? null : 0,
      status: isStart ? 'in_progress' : 'completed',
    },
  };
}

function createClaudeRecord(index: number, text: string): object {
  const session = { session_id: 'c0ffee00-0000-4000-8000-000000000001', uuid: `u-${index}`, parent_tool_use_id: null };
  const tool = `toolu_${Math.floor(index / 3)}`;
  const message = { id: `msg_${index}`, type: 'message', role: 'assistant', model: 'claude', stop_reason: null };
  if (index % 3 === 0)
    return { type: 'assistant', message: { ...message, content: [{ type: 'text', text }] }, ...session };
  if (index % 3 === 1) {
    const call = { type: 'tool_use', id: tool, name: 'Bash', input: { command: text } };
    return { type: 'assistant', message: { ...message, content: [call] }, ...session };
  }
  const result = { type: 'tool_result', tool_use_id: tool, content: text, is_error: false };
  return { type: 'user', message: { role: 'user', content: [result] }, ...session };
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
