import type { CommandShape, Completion, OptionShape, ProgramShape } from './command-tree.js';

/** Renders the completion script for zsh, with descriptions. It works from a folder in `fpath` and when sourced. */
export function renderZsh({ name, commands, options }: ProgramShape): string {
  return `#compdef ${name}
# ${name} completion for zsh
_${name}() {
  local -a commands
  local state
  commands=(
${commands.map(({ name: command, description }) => `    ${quote(`${command}:${escapeColons(description)}`)}`).join('\n')}
  )
  _arguments -C ${options.map(renderOption).join(' ')} '1: :->command' '*:: :->words'
  case $state in
    command) _describe command commands ;;
    words)
      case $words[1] in
${commands.map(renderCommand).join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function renderCommand({ name, options, words }: CommandShape): string {
  const specs = [
    ...options.map(renderOption),
    ...(words === undefined ? [] : [quote(`*:word:${formatAction(words)}`)]),
  ];
  return `        ${name}) _arguments ${specs.join(' ')} ;;`;
}

function renderOption({ names, description, value }: OptionShape): string {
  const text = `[${escapeColons(description).replaceAll(/[[\]]/g, String.raw`\$&`)}]`;
  const argument = value === undefined ? '' : `:${escapeColons(value.name)}:${formatAction(value.completion)}`;
  return names.map((name) => quote(`${name}${text}${argument}`)).join(' ');
}

function formatAction(completion: Completion): string {
  switch (completion.kind) {
    case 'words':
      return `(${completion.words.join(' ')})`;
    case 'files':
      return '_files';
    case 'anything':
      return ' ';
  }
}

function escapeColons(text: string): string {
  return text.replaceAll(/[\\:]/g, String.raw`\$&`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
