import claude from '../../src/events/engines/claude/fixtures/2.1.325/d1-tool-shell.stream-json/stdout.1.log?raw';
import codex from '../../src/events/engines/codex/fixtures/0.166.0/d1-tool-shell.json/stdout.1.log?raw';
import gemini from '../../src/events/engines/gemini/fixtures/0.61.0/d1-tool-shell.stream-json/stdout.1.log?raw';
import opencode from '../../src/events/engines/opencode/fixtures/1.18.33/d1-tool-shell.json/stdout.1.log?raw';
import qwen from '../../src/events/engines/qwen/fixtures/0.24.4/d1-tool-shell.stream-json/stdout.1.log?raw';

/** Recorded logs of agents that run a command. */
export const LOG_EXAMPLES: readonly Readonly<{ name: string; text: string }>[] = [
  { name: 'Codex', text: codex },
  { name: 'Claude Code', text: claude },
  { name: 'Gemini', text: gemini },
  { name: 'OpenCode', text: opencode },
  { name: 'Qwen Code', text: qwen },
];
