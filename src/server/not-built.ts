/** Stands in for a handler until it is there. */
export async function notBuilt(): Promise<Response> {
  return new Response(null, { status: 501 });
}
