import type { CommandShape, Completion, OptionShape, ProgramShape } from './command-tree.js';

/** Renders the completion script for fish, with descriptions. */
export function renderFish({ name, commands, options }: ProgramShape): string {
  const prefix = `complete -c ${name}`;
  const atStart = '-n __fish_use_subcommand';
  const lines = [
    `# ${name} completion for fish`,
    // File names are suggested only if a command takes files.
    `${prefix} -f`,
    ...options.map((option) => `${prefix} ${atStart} ${renderOption(option)}`),
    ...commands.map((command) => `${prefix} ${atStart} -a ${command.name} -d ${quote(command.description)}`),
    ...commands.flatMap((command) => renderCommand(command, prefix)),
  ];
  return `${lines.join('\n')}\n`;
}

function renderCommand({ name, options, words }: CommandShape, prefix: string): string[] {
  const condition = `-n ${quote(`__fish_seen_subcommand_from ${name}`)}`;
  return [
    ...options.map((option) => `${prefix} ${condition} ${renderOption(option)}`),
    ...(words === undefined || words.kind === 'anything' ? [] : [`${prefix} ${condition} ${formatWords(words)}`]),
  ];
}

function renderOption({ names, description, value }: OptionShape): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const valueWords =
    value === undefined ? [] : [value.completion.kind === 'files' ? '-r' : '-x', formatWords(value.completion)];
  return [...flags, ...valueWords, `-d ${quote(description)}`].filter((word) => word !== '').join(' ');
}

function formatWords(completion: Completion): string {
  switch (completion.kind) {
    case 'words':
      return `-a ${quote(completion.words.join(' '))}`;
    case 'files':
      return '-F';
    case 'anything':
      return '';
  }
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
