export type Layer = 'production' | 'applied' | 'writing' | 'suggestion'

/** The shape of a layer: ring, disc, caret, diamond. Colour never stands alone. */
export const LayerIcon = ({ layer }: { layer: Layer }) => <i className="mark" data-layer={layer} aria-hidden />
