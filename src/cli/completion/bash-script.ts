import type { CommandShape, ProgramShape } from './command-tree.js';

/**
 * Renders the completion script for bash 3.2 and later, without dependencies. Without a suggestion, the shell completes
 * file names, which suits most values.
 */
export function renderBash({ name, commands, options }: ProgramShape): string {
  const names = commands.map((command) => command.name);
  const firstWords = [...names, ...options.flatMap((option) => option.names)];
  return `# ${name} completion for bash
_${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${names.join('|')}) command="\${COMP_WORDS[i]}"; break ;;
    esac
  done
  COMPREPLY=()
  case "$command $before" in
${commands.flatMap(renderValueCases).join('\n')}
  esac
  case "$command" in
    '') words='${firstWords.join(' ')}' ;;
${commands.map(renderWordCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _${name} ${name}
`;
}

/** Suggests an option's choices; other values are left to the shell. */
function renderValueCases({ name, options }: CommandShape): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    const patterns = names.map((option) => `'${name} ${option}'`).join('|');
    const { completion } = value;
    const reply =
      completion.kind === 'words' ? `COMPREPLY=($(compgen -W '${completion.words.join(' ')}' -- "$word")); ` : '';
    return [`    ${patterns}) ${reply}return ;;`];
  });
}

function renderWordCase({ name, options, words }: CommandShape): string {
  const flags = options.flatMap(({ names }) => names).join(' ');
  const values = words?.kind === 'words' ? words.words.join(' ') : '';
  return `    ${name}) if [[ "$word" == -* ]]; then words='${flags}'; else words='${values}'; fi ;;`;
}
