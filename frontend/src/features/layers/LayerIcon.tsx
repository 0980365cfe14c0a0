export type Layer = 'production' | 'applied' | 'writing' | 'suggestion'

/** The icon of a layer: ring, disc, caret or diamond. Layers are never distinguished by colour alone. */
export const LayerIcon = ({ layer }: { layer: Layer }) => <i className="mark" data-layer={layer} aria-hidden />
