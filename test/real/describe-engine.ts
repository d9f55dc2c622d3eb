import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LAUNCHERS } from '../../src/runs/launchers/launchers.js';
import { isVersionIn } from '../../src/runs/launchers/version.js';
import { expectSound } from './expect-sound.js';
import { readInstalledVersion } from './install-programs.js';
import type { RealEngine } from './real-engine.js';
import { runScenario, SCENARIOS, type Scenario } from './scenarios.js';
import type { StageFolders, ScenarioRun, Stage } from './stage.js';

/** The contract of every engine, run with the real executable. */
export function describeEngine(real: RealEngine): void {
  const { engine } = real;

  /** Plays a scenario and checks the invariants; the stage is removed after the test. */
  async function perform(scenario: Scenario): Promise<{ readonly stage: Stage; readonly played: ScenarioRun }> {
    const { stage, played } = await runScenario(real, scenario);
    onTestFinished(async () => stage.remove());
    await expectSound(played, stage);
    return { stage, played };
  }

  describe(`the real ${engine}`, () => {
    it('has a version that the launcher supports', () => {
      expect(isVersionIn(readInstalledVersion(real.package), LAUNCHERS[engine].testedVersions)).toBe(true);
    });

    it('answers', async () => {
      const { played } = await perform(SCENARIOS.plain);
      expect(played.result.error).toBeUndefined();
      expect(played.result).toMatchObject({ status: 'success', attempts: 1 });
      expect(played.result.session_id).toMatch(/\w{4}/u);
      expect(listFinals(played)).toEqual(['Hello there.']);
      expect(played.fcmp.at(-1)).toMatchObject({ type: 'conversation.completed', data: { reason_code: 'CLEAN_END' } });
    });

    it('answers with fenced JSON and the done marker', async () => {
      const { played, stage } = await perform(SCENARIOS.fenced);
      const { result } = played;
      expect(result).toMatchObject({ status: 'success', value: { answer: 7 }, repair_level: 'deterministic_generic' });
      expect(result.warnings.map(({ code }) => code)).toContain('OUTPUT_REPAIRED_GENERIC');
      expect(played.fcmp.at(-1)).toMatchObject({ data: { reason_code: 'OUTPUT_VALIDATED' } });
      expect(readLastMessage(stage)).toContain('skill_content name=');
    });

    it('answers with tags in prose', async () => {
      const { result } = (await perform(SCENARIOS.tagged)).played;
      expect(result).toMatchObject({ status: 'success', value: { answer: 7 }, repair_level: 'none' });
    });

    it('writes a file with a tool, if it may', async () => {
      const { played, stage } = await perform(SCENARIOS.writing);
      expect(played.result).toMatchObject({ status: 'success', artifacts: { created: ['artifacts/text.md'] } });
      expect(readFileSync(join(stage.workdir, 'artifacts/text.md'), 'utf8')).toBe('written');
      expect(played.fcmp.map(({ type }) => type)).toContain('assistant.tool_call');
    });

    it('recovers from 429', async () => {
      const { played, stage } = await perform(SCENARIOS.tooMany);
      expect(played.result).toMatchObject({ status: 'success', value: { answer: 7 } });
      expect(stage.model.requests.length).toBeGreaterThan(1);
    });

    it('fails within its time limit if the model responds only with 500', async () => {
      const { played } = await perform(SCENARIOS.broken);
      expect(played.result.status).toBe('failed');
      expect(played.fcmp.at(-1)?.type).toBe('conversation.failed');
    });

    it('names the cause if its credentials are refused, even at its time limit', async () => {
      const { result } = (await perform(SCENARIOS.unauthorized)).played;
      expect(result).toMatchObject({ status: 'failed', error: { code: 'ENGINE_AUTH_FAILED', cause: 'auth' } });
      expect(result.diagnostics?.map(({ code }) => code)).toContain('ENGINE_AUTH_HINT');
    });

    it('ends when it is canceled midway', async () => {
      const { played } = await perform(SCENARIOS.canceled);
      expect(played.result.status).toBe('canceled');
      expect(played.fcmp.at(-1)).toMatchObject({ data: { error: { category: 'canceled' } } });
    });

    it('resumes its session when its question is answered', async () => {
      const { played, stage } = await perform(SCENARIOS.resumed);
      expect(played.result).toMatchObject({ status: 'success', value: { answer: 7 }, attempts: 2 });
      const sessions = played.fcmp.flatMap((event) =>
        event.type === 'conversation.started' ? [event.data.session_id] : [],
      );
      // One session is one conversation, so its start is reported once.
      expect(sessions).toEqual([played.result.session_id]);
      const history = JSON.stringify(stage.model.requests.at(-1)?.messages);
      for (const words of ['Summarise it.', 'Which language?', '--english, please']) expect(history).toContain(words);
    });

    it('shows its plan, calls to an MCP server, images and sub-agents', async () => {
      const { played } = await perform(SCENARIOS.rich);
      expect(played.result).toMatchObject({ status: 'success', text: 'All done.' });
      const ended = played.fcmp.flatMap(({ type, data }) =>
        type === 'assistant.tool_call' && data.status !== 'started' ? [data] : [],
      );
      const { rich } = real;
      const types = played.fcmp.map(({ type }) => type);
      expect(types.includes('assistant.plan')).toBe(rich.plan !== undefined);
      expect(JSON.stringify(ended).includes('looked up x')).toBe(rich.lookup !== undefined);
      expect(ended.filter(({ status }) => status === 'failed')).toEqual([]);
      const hasParent = played.fcmp.some(({ data }) => 'parent_tool_call_id' in data);
      expect(hasParent).toBe(rich.showsSubAgent === true);
      expect(played.result.drift).toBeUndefined();
    });

    it('changes and starts nothing when it may only read, and still ends', async () => {
      const { played, stage } = await perform({
        name: 'forbidden',
        script: (_, { workdir }) => [
          { toolCalls: [real.writeFile(join(workdir, 'forbidden.txt'), 'x')] },
          { toolCalls: [real.runShell('touch forbidden-too.txt')] },
          { content: 'I was not allowed to.' },
        ],
        files: createTrap,
        spec: { prompt: 'Write it.', permissions: 'safe' },
      });
      expect(existsSync(getTrapFile(stage))).toBe(false);
      expect(played.result).toMatchObject({ status: 'success', artifacts: { created: [], modified: [], deleted: [] } });
      expect(listFinals(played).at(-1)).toBe('I was not allowed to.');
      expect(played.result).toMatchObject({ text: 'I was not allowed to.' });
      // Codex runs commands in a sandbox where they fail.
      expect((played.result.denials?.length ?? 0) > 0).toBe(engine !== 'codex');
    });

    it('changes only its two folders, starts no command that they configure, and still ends', async () => {
      const { played, stage } = await perform({
        name: 'outside',
        script: (_, { root, runDir }) => [
          { toolCalls: [real.writeFile(join(runDir, 'work_result.json'), 'allowed')] },
          { toolCalls: [real.writeFile(join(root, 'forbidden.txt'), 'x')] },
          { toolCalls: [real.runShell(`touch ${join(root, 'forbidden-too.txt')}`)] },
          { content: 'Done.' },
        ],
        files: createTrap,
        spec: { prompt: 'Write it.', permissions: 'workspace' },
      });
      expect(existsSync(getTrapFile(stage))).toBe(false);
      expect(played.result.status).toBe('success');
      expect(readFileSync(join(stage.runDir, 'work_result.json'), 'utf8')).toBe('allowed');
      expect(existsSync(join(stage.root, 'forbidden.txt'))).toBe(false);
      expect(existsSync(join(stage.root, 'forbidden-too.txt'))).toBe(false);
    });

    it('answers a prompt that starts like a flag, in a terminal', async () => {
      const spec = { ...SCENARIOS.tagged.spec, prompt: '--help me', terminal: true };
      const { played, stage } = await perform({ ...SCENARIOS.tagged, spec });
      expect(played.result).toMatchObject({ status: 'success', value: { answer: 7 } });
      expect(readLastMessage(stage)).toContain('--help me');
    });

    it('gets a long prompt that starts like a flag', async () => {
      const prompt = `--help ${'x'.repeat(200_000)} the end`;
      const { played, stage } = await perform({ ...SCENARIOS.plain, spec: { prompt } });
      expect(played.result.status).toBe('success');
      expect(readLastMessage(stage)).toContain(prompt);
    });

    it(`${real.triggersTrap ? 'starts' : 'does not start'} a program that the folder configures, with permissions: bypass`, async () => {
      // In a sandbox the command could start, but could not reach the marker file.
      const spec = { prompt: 'Say hello.', permissions: 'bypass', sandbox: 'off' } as const;
      const { stage } = await perform({ ...SCENARIOS.plain, files: createTrap, spec });
      expect(existsSync(getTrapFile(stage))).toBe(real.triggersTrap);
    });
  });
}

/** Files in the working folder that configure a command; if it runs, it creates a file. */
function createTrap(real: RealEngine, folders: StageFolders): Readonly<Record<string, string>> {
  const file = getTrapFile(folders);
  return real.trapFiles({ file, command: `touch ${file}` });
}

function getTrapFile({ root }: StageFolders): string {
  return join(root, 'sprung');
}

function listFinals({ fcmp }: ScenarioRun): string[] {
  return fcmp.flatMap((event) => (event.type === 'assistant.message.final' ? [event.data.text] : []));
}

/** The text of the last message that reached the model. */
function readLastMessage({ model }: Stage): string {
  const content = model.requests.at(-1)?.messages.at(-1)?.content;
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return parts
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? String(part.text) : ''))
    .join('\n');
}
