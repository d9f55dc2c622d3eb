import { isProfile, PROFILES } from './options-query.js';
import { options, setOptions } from './workbench-state.js';

/** How the text is read; the names are those of `parse`. */
export function OptionsForm() {
  const { profile, allowPartial, align, prefer } = options.value;
  return (
    <form class="card options-form" aria-label="Options" onSubmit={(event) => event.preventDefault()}>
      <div class="field">
        <label for="workbench-profile">Profile</label>
        <select
          id="workbench-profile"
          value={profile}
          aria-describedby="workbench-profile-help"
          onChange={({ currentTarget: { value } }) => isProfile(value) && setOptions({ profile: value })}
        >
          {Object.keys(PROFILES).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span class="help" id="workbench-profile-help">
          {PROFILES[profile]}
        </span>
      </div>
      <Choice
        label="Allow partial"
        help="Take a value that was cut off, as far as it came."
        checked={allowPartial}
        change={(checked) => setOptions({ allowPartial: checked })}
      />
      <Choice
        label="Align"
        help="Bring near misses into the shape of the schema; every change is told."
        checked={align}
        change={(checked) => setOptions({ align: checked })}
      />
      <div class="field">
        <label for="workbench-prefer">Prefer</label>
        <select
          id="workbench-prefer"
          value={prefer ?? ''}
          aria-describedby="workbench-prefer-help"
          onChange={({ currentTarget: { value } }) =>
            setOptions({ prefer: value === 'first' || value === 'last' ? value : null })
          }
        >
          <option value="">the usual order</option>
          <option value="first">the first in the text</option>
          <option value="last">the last in the text</option>
        </select>
        <span class="help" id="workbench-prefer-help">
          Which candidate is taken if several pass.
        </span>
      </div>
    </form>
  );
}

function Choice({
  label,
  help,
  checked,
  change,
}: {
  readonly label: string;
  readonly help: string;
  readonly checked: boolean;
  readonly change: (checked: boolean) => void;
}) {
  return (
    <label class="choice">
      <input type="checkbox" checked={checked} onChange={({ currentTarget }) => change(currentTarget.checked)} />
      <span>
        {label}
        <span class="help">{help}</span>
      </span>
    </label>
  );
}
