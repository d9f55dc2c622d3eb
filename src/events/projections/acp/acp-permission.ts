import type { FcmpEvent } from '../../protocol/fcmp-event.js';
import { toToolCallId } from '../projection.js';
import { toDiffContent, formatTitle, chooseToolKind } from './acp.js';
import type { AcpToolContent, ToolKind } from './acp-update.js';

/** The parameters of `session/request_permission`, without the session. */
export interface AcpPermission {
  readonly toolCall: {
    readonly toolCallId: string;
    readonly title: string;
    readonly name: string;
    readonly kind: ToolKind;
    readonly status: 'pending';
    readonly rawInput: unknown;
    readonly content?: readonly AcpToolContent[];
    readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  };
  readonly options: readonly {
    readonly optionId: string;
    readonly name: string;
    readonly kind: FcmpEvent<'permission.required'>['data']['options'][number]['kind'];
  }[];
}

/** Converts a permission request to an Agent Client Protocol request. Its tool call has the same id as in updates. */
export function toAcpPermission({ data, meta }: FcmpEvent<'permission.required'>): AcpPermission {
  const { tool, input, diff, locations } = data;
  const content = toDiffContent(diff);
  return {
    toolCall: {
      toolCallId: toToolCallId(data.tool_call_id, meta.attempt),
      title: formatTitle({ name: tool, input }),
      name: tool,
      kind: chooseToolKind(tool),
      status: 'pending',
      rawInput: input,
      ...(content.length === 0 ? {} : { content }),
      ...(locations === undefined ? {} : { locations }),
    },
    options: data.options.map(({ id, label, kind }) => ({ optionId: id, name: label, kind })),
  };
}
