export { type Layer, LayerIcon } from './LayerIcon'
