import { z } from 'zod';

const Bom = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  components: z.array(z.looseObject({ 'bom-ref': z.string(), scope: z.string().optional() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

/**
 * Reduces npm's bill of materials of all installed packages to the shipped ones. npm itself can only omit all
 * development dependencies, including those built into the console.
 */
export function keepShipped(bill: unknown, shipped: ReadonlySet<string>, name: string): z.infer<typeof Bom> {
  const bom = Bom.parse(bill);
  const own = bom.metadata.component['bom-ref'];
  const isShipped = (ref: string): boolean => ref === own || shipped.has(ref);
  return {
    ...bom,
    // npm names the project after its folder.
    metadata: { ...bom.metadata, component: { ...bom.metadata.component, name } },
    components: bom.components
      .filter((component) => isShipped(component['bom-ref']))
      .map((component) => ({ ...component, scope: 'required' })),
    dependencies: bom.dependencies
      .filter(({ ref }) => isShipped(ref))
      .map((dependency) => ({ ...dependency, dependsOn: (dependency.dependsOn ?? []).filter(isShipped) })),
  };
}
