import * as api from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import type { FcmpData, FcmpEvent, FcmpType } from '../../events/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';
import { createFailedResult } from '../../runs/index.js';
import { startRunTrace } from './index.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const RESULT: RunResult = {
  status: 'success',
  repair_level: 'none',
  warnings: [],
  artifacts: { created: [], modified: [], deleted: [] },
  attempts: 1,
  session_id: 's-1',
  text: 'Done with the secret plan.',
  model: 'o-9',
  usage: { scope: 'total', input_tokens: 100, output_tokens: 20, cached_input_tokens: 60 },
} as unknown as RunResult;

/** Traces a run and returns the spans received by an exporter. */
function traceRun(spec: Partial<RunSpec> = {}, settings: { content?: boolean; consoleUrl?: string } = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const { content = false, consoleUrl } = settings;
  const run = { id: 'run-1', spec: { engine: 'codex', workdir: '/work', ...spec } };
  const trace = startRunTrace({ api, tracer: provider.getTracer('test'), content, consoleUrl }, run);
  const startMs = Date.now();
  let seq = 0;
  const onEvent = <Type extends FcmpType>(type: Type, data: FcmpData<Type>, atMs: number): void => {
    seq += 1;
    const event = { type, data, seq, ts: new Date(startMs + atMs).toISOString(), meta: { attempt: 1 } };
    trace.onEvent(event as unknown as FcmpEvent);
  };
  const end = (result: RunResult = RESULT) => {
    trace.end(result);
    const spans = exporter.getFinishedSpans();
    return {
      spans,
      named: (name: string) => spans.filter((span) => span.name === name),
      text: JSON.stringify(spans.map(({ name, attributes, status }) => ({ name, attributes, status }))),
    };
  };
  const at = (ms: number): number => startMs + ms;
  return { trace, onEvent, end, at };
}

const toMs = ([seconds, nanos]: readonly [number, number]): number => Math.round(seconds * 1000 + nanos / 1e6);

describe('run spans', () => {
  it('have what the engine reports: its version, durations, turns, reasons, retries and the start of a call', () => {
    const { onEvent, end, at } = traceRun();
    onEvent('conversation.started', { session_id: 's', engine_version: '2.1', workdir: '/work' }, 0);
    const retry = { code: 'ENGINE_RETRYING', message: 'Again.', retrying: true } as const;
    onEvent('diagnostic.warning', retry, 10);
    const call = { tool_call_id: 't', name: 'shell', started_at: new Date(at(20)).toISOString() };
    onEvent('assistant.tool_call', { ...call, status: 'started' }, 50);
    onEvent('assistant.tool_call', { ...call, status: 'completed' }, 50);
    const fields = { duration_ms: 70, turns: 2, stop_reason: 'end_turn' };
    onEvent('conversation.completed', { state: 'completed', reason_code: 'CLEAN_END', ...fields }, 70);
    const { named } = end();
    expect(named('invoke_agent codex')[0]?.attributes).toMatchObject({
      'gen_ai.agent.version': '2.1',
      'process.working_directory': '/work',
      'sluice.engine.retries': 1,
      'sluice.engine.duration_ms': 70,
      'sluice.engine.turns': 2,
      'gen_ai.response.finish_reasons': ['end_turn'],
    });
    expect(named('execute_tool shell').map(({ startTime }) => toMs(startTime))).toEqual([at(20)]);
  });

  it('follow the GenAI conventions: an agent, the messages of its model, its tools', () => {
    const { onEvent, end, at } = traceRun({ traceparent: `00-${TRACE}-${PARENT}-01`, model: 'o-9' });
    onEvent('conversation.started', { session_id: 's-1' }, 0);
    onEvent('assistant.message.final', { message_id: 'm1', text: 'I look.' }, 10);
    onEvent(
      'assistant.tool_call',
      { tool_call_id: 't1', name: 'shell', status: 'started', input: { command: 'ls' } },
      20,
    );
    onEvent('assistant.tool_call', { tool_call_id: 't1', name: 'shell', status: 'completed', exit_code: 0 }, 50);
    const usage = { scope: 'turn', input_tokens: 7, output_tokens: 3 } as const;
    onEvent('assistant.message.final', { message_id: 'm2', text: 'Done.', model: 'o-9-mini', usage }, 90);
    const { spans, named } = end();
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'chat o-9',
      'chat o-9-mini',
      'execute_tool shell',
      'invoke_agent codex',
    ]);
    const [agent] = named('invoke_agent codex');
    expect(agent?.spanContext().traceId).toBe(TRACE);
    expect(agent?.parentSpanContext?.spanId).toBe(PARENT);
    expect(agent?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.name': 'codex',
      'gen_ai.request.model': 'o-9',
      'gen_ai.response.model': 'o-9',
      'gen_ai.conversation.id': 's-1',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'sluice.run_id': 'run-1',
      'sluice.status': 'success',
      'sluice.attempts': 1,
      'sluice.repair_level': 'none',
    });
    const parents = spans.filter((span) => span !== agent).map(({ parentSpanContext }) => parentSpanContext?.spanId);
    expect(new Set(parents)).toEqual(new Set([agent?.spanContext().spanId]));
    const [tool] = named('execute_tool shell');
    expect(tool?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'shell',
      'gen_ai.tool.call.id': 't1',
      'process.exit.code': 0,
    });
    expect([tool?.startTime, tool?.endTime].map((time) => toMs(time ?? [0, 0]))).toEqual([at(20), at(50)]);
    const [last] = named('chat o-9-mini');
    // From the tool result to the last message.
    expect([last?.startTime, last?.endTime].map((time) => toMs(time ?? [0, 0]))).toEqual([at(50), at(90)]);
    expect(last?.attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 7, 'gen_ai.usage.output_tokens': 3 });
    expect(named('chat o-9')[0]?.attributes).not.toHaveProperty(['gen_ai.usage.input_tokens']);
  });

  it('have the run’s usage if the model has only one step', () => {
    const { onEvent, end } = traceRun();
    onEvent('assistant.message.final', { message_id: 'm1', text: 'Done.' }, 10);
    expect(end().named('chat o-9')[0]?.attributes).toMatchObject({
      'gen_ai.response.model': 'o-9',
      'gen_ai.usage.input_tokens': 100,
    });
  });

  it('have no content unless requested, and then a limited part', () => {
    const converse = (content: boolean) => {
      const { onEvent, end } = traceRun({ prompt: `secret plan ${'x'.repeat(100_000)}` }, { content });
      onEvent('assistant.message.final', { message_id: 'm1', text: 'the secret plan is good' }, 1);
      const input = { path: 'secret plan' };
      onEvent('assistant.tool_call', { tool_call_id: 't1', name: 'read', status: 'started', input }, 2);
      const failed = { tool_call_id: 't1', name: 'read', status: 'failed', error: 'no secret plan' } as const;
      onEvent('assistant.tool_call', { ...failed, output: { text: 'secret plan '.repeat(10_000) } }, 3);
      return end();
    };
    expect(converse(false).text).not.toContain('secret plan');
    const { named, text } = converse(true);
    expect(text.length).toBeLessThan(60_000);
    expect(JSON.parse(String(named('invoke_agent codex')[0]?.attributes['gen_ai.input.messages']))).toMatchObject([
      { role: 'user', parts: [{ type: 'text', content: expect.stringMatching(/^secret plan x+…$/) }] },
    ]);
    expect(named('execute_tool read')[0]?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"path":"secret plan"}',
      'gen_ai.tool.call.result': expect.stringContaining('secret plan'),
    });
  });

  it('have the error of a failed run, a failed call and an unfinished call', () => {
    const { onEvent, end } = traceRun();
    onEvent('assistant.tool_call', { tool_call_id: 't1', name: 'shell', status: 'started' }, 2);
    onEvent('assistant.tool_call', { tool_call_id: 't1', name: 'shell', status: 'failed', exit_code: 2 }, 3);
    onEvent('assistant.tool_call', { tool_call_id: 't2', name: 'edit', status: 'started' }, 4);
    const { named } = end(createFailedResult('RUN_TIMED_OUT', 'No output for 10 s.'));
    const agent = named('invoke_agent codex')[0];
    expect(agent?.attributes).toMatchObject({ 'error.type': 'RUN_TIMED_OUT', 'sluice.status': 'failed' });
    expect(agent?.status).toEqual({ code: api.SpanStatusCode.ERROR, message: 'No output for 10 s.' });
    expect(named('execute_tool shell')[0]).toMatchObject({
      status: { code: api.SpanStatusCode.ERROR },
      attributes: { 'error.type': 'tool_error', 'process.exit.code': 2 },
    });
    expect(named('execute_tool edit')[0]?.attributes).toMatchObject({ 'error.type': 'not_finished' });
  });

  it('of a sub-agent are children of the tool call that started it', () => {
    const { onEvent, end } = traceRun({ engine: 'claude' });
    onEvent('assistant.tool_call', { tool_call_id: 'task', name: 'Task', status: 'started' }, 1);
    const inside = { parent_tool_call_id: 'task' };
    onEvent('assistant.message.final', { message_id: 'm1', text: 'Looking.', model: 'small', ...inside }, 2);
    onEvent('assistant.tool_call', { tool_call_id: 'r', name: 'Read', status: 'started', ...inside }, 3);
    onEvent('assistant.tool_call', { tool_call_id: 'r', name: 'Read', status: 'completed', ...inside }, 4);
    onEvent('assistant.tool_call', { tool_call_id: 'task', name: 'Task', status: 'completed' }, 5);
    const { named } = end();
    const task = named('execute_tool Task')[0]?.spanContext().spanId;
    expect(named('chat small')[0]?.parentSpanContext?.spanId).toBe(task);
    expect(named('execute_tool Read')[0]?.parentSpanContext?.spanId).toBe(task);
  });

  it('are limited in number, and an attribute contains the number of omitted spans', () => {
    const { onEvent, end } = traceRun();
    for (let call = 0; call < 2000; call += 1) {
      onEvent('assistant.tool_call', { tool_call_id: `t${call}`, name: 'shell', status: 'started' }, call);
      onEvent('assistant.tool_call', { tool_call_id: `t${call}`, name: 'shell', status: 'completed' }, call);
    }
    // Each call has a span, and so does the model step before it.
    const { spans, named } = end();
    expect(spans).toHaveLength(1001);
    expect(named('invoke_agent codex')[0]?.attributes['sluice.spans_left_out']).toBe(3000);
  });

  it('link to the console, and are roots without a valid parent', () => {
    const { trace, end } = traceRun({ traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` }, { consoleUrl: 'https://s/' });
    expect(trace.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const [agent] = end().named('invoke_agent codex');
    expect(agent?.parentSpanContext).toBeUndefined();
    expect(agent?.attributes['sluice.run_url']).toBe('https://s/runs/run-1');
  });
});
