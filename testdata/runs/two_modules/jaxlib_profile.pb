

all-gather.3.1…]r¯I@

custom-call.2Ìõo„N7@
!
loop_multiply_fusion.2g>Ã®82@
 
input_reduce_fusion.1Û@§tÚ@
!
loop_multiply_fusion.3|®Gázò?

reduce-scatter.10¾Ÿ/İlP@

wrapped_sliceI+‡é?

gemm_fusion_dot.135’¦TdF@
!
loop_multiply_fusion.4•ÑÛ²VÇí?
!
loop_multiply_fusion.1Ìõo5@

reduce-scatter.11[<˜ÓS@

gemm_fusion_dot.16u“VrP@

gemm_fusion_dot.11e­	\F@

all-reduce.6ÓMbXY#@
 
loop_convert_fusion.4Ø ÷šK'@

loop_add_fusion.4EoËZS@

reduce-scatter.12+‡ÙÎwU@

gemm_fusion_dot.9Í…¤)gO@

custom-call.34ì
{•6@
 
loop_convert_fusion.6 ÷šIó?
 
loop_convert_fusion.5CÒ”Š³@

gemm_fusion_dot.1@î5’¦Q@
 
loop_convert_fusion.7R¸…ëQñ?

gemm_fusion_dot.15è´NsF@

loop_add_fusion.23ì
{•D@
)
loop_convert_multiply_fusion.1Œlçû©¹B@

gemm_fusion_dot.19Eı¡Œ^U@

all-gather.2.1¼æBÒ”nN@

all-gather.7Õ¿Êè‰D@

gemm_fusion_dot.18»4¥â´M@

all-gather.4.18‰A`åPJ@

triton_softmax.4¥)g>@

loop_multiply_fusionaW€Ükö2@

gemm_fusion_dot.3+‡ÙÎÛR@

triton_softmax.3×ê˜àÁü@
)
loop_convert_multiply_fusion.2}?5^ºIB@
"
input_add_reduce_fusion¬Õ1Áƒy@

gemm_fusion_dot.7Ï÷Sã¥›L@

gemm_fusion_dot.5Ûù~j¼<F@

triton_softmax.1åK~±ä@
 
input_reduce_fusion.4ŸaW€Ükõ?

custom-call.58ûğv=6@

all-gather.1.1-kuLğàM@

loop_convert_fusionï§ÆK7I@

all-gather.5.1Õxé&1|L@

wrapped_slice.1U-²ïé?
 
input_reduce_fusion.3K~±ä—ş?

loop_add_fusionßO—nA@

wrapped_concatenateñ?

triton_softmax.5×£p=J@
"
all-reduce.6.0-fusion.1y¢şPF@

custom-call.4+Î>|†%6@
&
input_convert_reduce_fusion½æBÒ”Š#@

gemm_fusion_dot.22e­	\F@

gemm_fusion_dot.204¥âìÃF@

gemm_fusion_dot.21ğ§ÆK7QF@
 
input_reduce_fusion.2gffff†@

loop_add_fusion.3 ÷šIS@
 
loop_convert_fusion.1‘í|?5~%@

custom-call.0}?5^º-6@
'
loop_convert_multiply_fusionrh‘í|C@

input_reduce_fusion<˜'êß@

loop_add_fusion.1×\HšRA@
 
loop_convert_fusion.3³Nèô@
 
loop_convert_fusion.2m Ó:m@

custom-call.13333337@