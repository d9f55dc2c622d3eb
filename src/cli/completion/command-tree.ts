import type { Argument, Command, Option } from 'commander';

/** The possible next words. */
export type Completion =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'anything' };

/** A command option. */
export interface OptionShape {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly value?: { readonly name: string; readonly completion: Completion };
}

/** The description of a command for a completion script. */
export interface CommandShape {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionShape[];
  /** Completes all its arguments like the first; undefined if it takes no arguments. */
  readonly words?: Completion;
}

/** The description of a CLI for a completion script. */
export interface ProgramShape {
  readonly name: string;
  readonly commands: readonly CommandShape[];
  readonly options: readonly OptionShape[];
}

/** Values and arguments with these names are paths. */
const PATH_NAMES = /^(?:file|files|dir|target)$/;

/** Reads names, descriptions and choices from the program, so the scripts are always up to date. */
export function readProgramShape(program: Command): ProgramShape {
  return {
    name: program.name(),
    options: readOptions(program),
    commands: program.commands.map((command) => {
      const [first] = command.registeredArguments;
      return {
        name: command.name(),
        description: command.description(),
        options: readOptions(command),
        ...(first === undefined ? {} : { words: chooseCompletion(first.name(), readChoices(first)) }),
      };
    }),
  };
}

function readOptions(command: Command): OptionShape[] {
  return command.createHelp().visibleOptions(command).map(toShape);
}

function toShape(option: Option): OptionShape {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const value = /[<[]([^.>\]]+)/.exec(option.flags)?.[1];
  return {
    names,
    description: option.description,
    ...(value === undefined
      ? {}
      : { value: { name: value, completion: chooseCompletion(value, readChoices(option)) } }),
  };
}

function readChoices(source: Option | Argument): readonly string[] {
  return source.argChoices ?? [];
}

function chooseCompletion(name: string, choices: readonly string[]): Completion {
  if (choices.length > 0) return { kind: 'words', words: choices };
  return { kind: PATH_NAMES.test(name) ? 'files' : 'anything' };
}
