import type { ComponentChildren } from 'preact';
import { isProfile, PROFILES } from '../../ui/profiles.js';
import { options, setOptions } from './workbench-state.js';

/** The `parse` options. */
export function OptionsForm() {
  const { profile, allowPartial, align, prefer } = options.value;
  return (
    <form class="options-form" aria-label="Options" onSubmit={(event) => event.preventDefault()}>
      <label>
        Profile
        <select
          value={profile}
          aria-describedby="workbench-profile-help"
          onChange={({ currentTarget: { value } }) => isProfile(value) && setOptions({ profile: value })}
        >
          {Object.keys(PROFILES).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <OptionWithHelp id="workbench-prefer-help" help="Which candidate is selected if more than one matches.">
        <label>
          Prefer
          <select
            value={prefer ?? ''}
            aria-describedby="workbench-prefer-help"
            onChange={({ currentTarget: { value } }) =>
              setOptions({ prefer: value === 'first' || value === 'last' ? value : null })
            }
          >
            <option value="">Default order</option>
            <option value="first">First in the output</option>
            <option value="last">Last in the output</option>
          </select>
        </label>
      </OptionWithHelp>
      <OptionWithHelp id="workbench-partial-help" help="Accept a truncated value.">
        <label>
          <input
            type="checkbox"
            checked={allowPartial}
            aria-describedby="workbench-partial-help"
            onChange={({ currentTarget: { checked } }) => setOptions({ allowPartial: checked })}
          />
          Allow partial
        </label>
      </OptionWithHelp>
      <OptionWithHelp id="workbench-align-help" help="Fix near misses to match the schema. Every change is listed.">
        <label>
          <input
            type="checkbox"
            checked={align}
            aria-describedby="workbench-align-help"
            onChange={({ currentTarget: { checked } }) => setOptions({ align: checked })}
          />
          Align
        </label>
      </OptionWithHelp>
      <p class="help" id="workbench-profile-help">
        {PROFILES[profile]}
      </p>
    </form>
  );
}

/** A control with an explanation, which is its tooltip and is read by screen readers. */
function OptionWithHelp({
  id,
  help,
  children,
}: {
  readonly id: string;
  readonly help: string;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="explained-by" title={help}>
      {children}
      <span class="visually-hidden" id={id}>
        {help}
      </span>
    </span>
  );
}
