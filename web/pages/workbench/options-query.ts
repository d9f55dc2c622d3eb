import { isProfile } from '../../ui/profiles.js';
import { DEFAULT_OPTIONS } from './examples.js';
import type { WorkbenchOptions } from './inspection.js';

/** Reads the options from the query. */
export function readOptions(query: URLSearchParams): WorkbenchOptions {
  const profile = query.get('profile') ?? '';
  const prefer = query.get('prefer');
  return {
    profile: isProfile(profile) ? profile : DEFAULT_OPTIONS.profile,
    allowPartial: query.get('partial') === 'yes',
    align: query.get('align') === 'yes',
    prefer: prefer === 'first' || prefer === 'last' ? prefer : null,
  };
}

/** Converts the options to query parameters; default values are omitted. */
export function toQuery({ profile, allowPartial, align, prefer }: WorkbenchOptions): Record<string, string | null> {
  return {
    profile: profile === DEFAULT_OPTIONS.profile ? null : profile,
    partial: allowPartial ? 'yes' : null,
    align: align ? 'yes' : null,
    prefer,
  };
}
