import { useSignal } from '@preact/signals';
import { signIn } from './session.js';

/** Asks for a token. It is sent once, in exchange for a cookie; the page does not store it. */
export function SignIn({ isExpired }: { readonly isExpired: boolean }) {
  const token = useSignal('');
  const refusal = useSignal<string | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const failure = await signIn(token.value.trim());
    refusal.value = failure?.message ?? null;
    if (failure === null) token.value = '';
  };
  return (
    <form class="card sign-in" onSubmit={(event) => void submit(event)}>
      <h1>Sign in</h1>
      {isExpired ? <p>Your session has expired, or its token was changed or removed. Sign in again.</p> : null}
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="current-password"
        required
        value={token.value}
        aria-describedby="token-help"
        aria-invalid={refusal.value !== null}
        onInput={(event) => (token.value = event.currentTarget.value)}
      />
      <p id="token-help" class={refusal.value === null ? 'help' : 'wrong'} role="status">
        {refusal.value ??
          'A token from the server’s configuration, or the one that sluice token prints. Your decisions are recorded under the token’s name.'}
      </p>
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  );
}
