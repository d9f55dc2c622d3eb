import type { Argument, Command, Option } from 'commander';

/** What the next word may be. */
export type Completion =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'anything' };

/** One option of a command. */
export interface OptionShape {
  readonly names: readonly string[];
  readonly description: string;
  /** Missing where it takes no value. */
  readonly value?: { readonly name: string; readonly completion: Completion };
}

/** One command, as far as a shell must know it. */
export interface CommandShape {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionShape[];
  /** What its words that are no options may be; missing where it takes none. */
  readonly words?: Completion;
}

/** A whole program, as far as a shell must know it. */
export interface ProgramShape {
  readonly name: string;
  readonly commands: readonly CommandShape[];
  readonly options: readonly OptionShape[];
}

/** Values that are called so are paths. */
const PATH_NAMES = /^(?:file|files|dir|target)$/;

/** Reads names, descriptions and choices off a program, so that no shell's script has to be kept by hand. */
export function shapeOf(program: Command): ProgramShape {
  return {
    name: program.name(),
    options: optionsOf(program),
    commands: program.commands.map((command) => {
      const [first] = command.registeredArguments;
      return {
        name: command.name(),
        description: command.description(),
        options: optionsOf(command),
        ...(first === undefined ? {} : { words: completionOf(first.name(), choicesOf(first)) }),
      };
    }),
  };
}

function optionsOf(command: Command): OptionShape[] {
  return command.createHelp().visibleOptions(command).map(toShape);
}

function toShape(option: Option): OptionShape {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const value = /[<[]([^.>\]]+)/.exec(option.flags)?.[1];
  return {
    names,
    description: option.description,
    ...(value === undefined ? {} : { value: { name: value, completion: completionOf(value, choicesOf(option)) } }),
  };
}

function choicesOf(given: Option | Argument): readonly string[] {
  return given.argChoices ?? [];
}

function completionOf(name: string, choices: readonly string[]): Completion {
  if (choices.length > 0) return { kind: 'words', words: choices };
  return { kind: PATH_NAMES.test(name) ? 'files' : 'anything' };
}
