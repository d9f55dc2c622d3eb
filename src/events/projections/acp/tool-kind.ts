/** The kinds of tool that ACP's clients have pictures for. */
export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';

const KIND_BY_NAME: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries({
    execute: ['bash', 'shell', 'command_execution', 'run_shell_command', 'exec', 'execute'],
    read: ['read', 'read_file', 'read_many_files', 'notebookread'],
    edit: [
      'write',
      'write_file',
      'edit',
      'multiedit',
      'replace',
      'file_change',
      'patch',
      'apply_patch',
      'notebookedit',
    ],
    search: ['grep', 'glob', 'ls', 'list', 'list_directory', 'search_file_content', 'grep_search', 'codesearch'],
    fetch: ['web_search', 'websearch', 'web_fetch', 'webfetch', 'google_web_search', 'fetch'],
    think: ['think', 'todo_list', 'todowrite', 'todo_write', 'write_todos', 'task', 'agent', 'collab_tool_call'],
    delete: ['delete', 'delete_file'],
    move: ['move', 'move_file'],
  } satisfies Partial<Record<ToolKind, readonly string[]>>).flatMap(([kind, names]) =>
    names.map((name) => [name, kind as ToolKind] as const),
  ),
);

/** The kind of a tool by the name its engine gives it. */
export function toolKind(name: string): ToolKind {
  return KIND_BY_NAME.get(name.toLowerCase()) ?? 'other';
}
